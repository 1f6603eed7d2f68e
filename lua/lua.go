// Package lua holds the state machine of design §2: one Redis script a verb.
// The rules live in the scripts and nowhere else; Go asks, and maps the answers
// (answers.go) to errors.
//
// A script may begin with `-- include: name, name`, which puts name.lua, and what that
// includes, in front of it, each once; `layouts` are made from layout.go. A script
// includes what it needs and no more: every function is made anew at every run.
//
// A line `-- nest` puts all that follows, to the end, in a function that is called at
// once. What the functions in there use of what is above it costs each of them a copy;
// of what is beside them, a walk through all that was used of it before.
package lua

import (
	"embed"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed *.lua
var files embed.FS

// The verbs.
var (
	Submit      = load("submit")
	Claim       = load("claim")
	Beat        = load("beat")
	Accept      = load("accept")
	Suspect     = load("suspect")
	Finalize    = load("finalize")
	Fail        = load("fail")
	Open        = load("open")
	Resolve     = load("resolve")
	Cancel      = load("cancel")
	Take        = load("take")
	Hold        = load("hold")
	Race        = load("race")
	Look        = load("look")
	Note        = load("note")
	Rewind      = load("rewind")
	Mend        = load("mend")
	ExpireStart = load("expire_start")
	Patience    = load("patience")
	Read        = load("read")
	Recount     = load("recount")
	HookTake    = load("hook_take")
	HookDone    = load("hook_done")
	Redeliver   = load("redeliver")
)

const include = "-- include: "

func load(name string) *redis.Script {
	source, err := Source(name)
	if err != nil {
		panic(err) // a broken embedded script: no build of this module has one
	}
	return redis.NewScript(source)
}

// read returns a script without what it includes.
func read(name string) ([]byte, error) {
	if name == "layouts" {
		return []byte(layoutSource()), nil
	}
	return files.ReadFile(name + ".lua") //nolint:wrapcheck // whoever asks says which
}

// Source returns the whole text of a script as Redis is given it.
func Source(name string) (string, error) {
	var text strings.Builder
	if err := write(&text, name, map[string]bool{}); err != nil {
		return "", err
	}
	opened := strings.Count(text.String(), nest)
	return strings.ReplaceAll(text.String(), nest, "\nreturn (function()\n") + strings.Repeat("end)()\n", opened), nil
}

const nest = "\n-- nest\n"

// write writes a script behind what it includes, each once.
func write(text *strings.Builder, name string, written map[string]bool) error {
	if written[name] {
		return nil
	}
	written[name] = true
	own, err := read(name)
	if err != nil {
		return fmt.Errorf("loading script %s: %w", name, err)
	}
	first, rest, _ := strings.Cut(string(own), "\n")
	if included, ok := strings.CutPrefix(first, include); ok {
		for other := range strings.SplitSeq(included, ", ") {
			if err := write(text, other, written); err != nil {
				return err
			}
		}
		own = []byte(rest)
	}
	text.Write(own)
	return nil
}
