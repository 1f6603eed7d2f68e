// Package lua holds the state machine of design §2: one Redis script a verb.
// The rules live in the scripts and nowhere else; Go asks, and maps the answers
// (answers.go) to errors.
//
// A script may begin with `-- include: name, name`, which puts name.lua, and what that
// includes, in front of it, each once; `layouts` are made from layout.go. Behind
// record.lua, its begin() is called before the script itself.
//
// Verbs run as functions of a library (library.go), or where a server has none, as scripts
// of their own. In a script every function is made anew at every run: so it includes what
// it needs and no more. A line `-- nest` puts all that follows in a script, to the end, in
// a function that is called at once. What the functions in there use of what is above it
// costs each of them a copy; of what is beside them, a walk through all that was used of
// it before.
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
	var m modules
	own, err := m.script(name)
	if err != nil {
		return "", err
	}
	text := m.text.String()
	if m.written["record"] {
		text += begin
	}
	text += own
	opened := strings.Count(text, nest)
	return strings.ReplaceAll(text, nest, "\nreturn (function()\n") + strings.Repeat("end)()\n", opened), nil
}

const (
	nest  = "\n-- nest\n"
	begin = "begin(KEYS, ARGV)\n" // of record.lua
)

// modules are what scripts include, each once.
type modules struct {
	text    strings.Builder
	written map[string]bool
}

// script writes what a script includes, and returns the script without it.
func (m *modules) script(name string) (string, error) {
	source, err := read(name)
	if err != nil {
		return "", fmt.Errorf("loading script %s: %w", name, err)
	}
	first, rest, _ := strings.Cut(string(source), "\n")
	included, ok := strings.CutPrefix(first, include)
	if !ok {
		return string(source), nil
	}
	for other := range strings.SplitSeq(included, ", ") {
		if err := m.write(other); err != nil {
			return "", err
		}
	}
	return rest, nil
}

// write writes a module behind what it includes.
func (m *modules) write(name string) error {
	if m.written[name] {
		return nil
	}
	if m.written == nil {
		m.written = map[string]bool{}
	}
	m.written[name] = true
	own, err := m.script(name)
	if err != nil {
		return err
	}
	m.text.WriteString(own)
	return nil
}
