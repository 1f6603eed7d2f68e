// Source writes the scripts into a folder as Redis is given them, with what they include
// in front, for tools that look at Lua:
//
//	go run ./lua/source DIR
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"onejob/lua"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "source:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: source DIR")
	}
	scripts, err := filepath.Glob("lua/*.lua")
	if err != nil {
		return fmt.Errorf("looking for scripts: %w", err)
	}
	if len(scripts) == 0 {
		return errors.New("there are no scripts in lua: run it from the top of the repository")
	}
	for _, path := range scripts {
		name := strings.TrimSuffix(filepath.Base(path), ".lua")
		source, err := lua.Source(name)
		if err != nil {
			return fmt.Errorf("reading the scripts: %w", err)
		}
		if err := os.WriteFile(filepath.Join(args[0], name+".lua"), []byte(source), 0o600); err != nil {
			return fmt.Errorf("writing the scripts: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(args[0], "library.lua"), []byte(lua.Library()), 0o600); err != nil {
		return fmt.Errorf("writing the library: %w", err)
	}
	return nil
}
