package lua

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// functions are the verbs that a Runner can run as functions: what a job goes through,
// and what a person asks of it.
var functions = []string{
	"submit", "claim", "beat", "accept", "suspect", "finalize", "fail", "open", "resolve", "cancel", "hold", "race", "look",
	"note", "expire_start", "hook_take", "hook_done", "redeliver",
}

// library is what a server is given once (FUNCTION LOAD, Redis 7).
type library struct {
	name  string
	text  string
	names map[string]string // of functions, by the SHA-1 of the script
	verbs map[string]string // by names of functions
}

// theLibrary is the same text as that of the scripts, put together once. Its name and
// those of its functions end with a digest of it: processes of several versions, each with
// its own, share a server. Redis keeps a library for good, with its data; one that nobody
// uses any more may be deleted at any time, and so may one that is used (docs/deploy.md).
var theLibrary = sync.OnceValue(func() library {
	text, err := libraryText("")
	if err != nil {
		panic(err) // a broken embedded script: no build of this module has one
	}
	digest := sha256.Sum256([]byte(text))
	version := hex.EncodeToString(digest[:6])
	l := library{name: "onejob_" + version, names: map[string]string{}, verbs: map[string]string{}}
	if l.text, err = libraryText(version); err != nil {
		panic(err)
	}
	for _, verb := range functions {
		source, err := Source(verb)
		if err != nil {
			panic(err)
		}
		name := functionName(verb, version)
		l.names[redis.NewScript(source).Hash()], l.verbs[name] = name, verb
	}
	return l
})

func functionName(verb, version string) string { return "onejob_" + verb + "_" + version }

// libraryText puts the library together: what the verbs include, each once, and every
// verb in a function of its own. What is declared outside of a function stays from one
// run to the next, so that begin() must set all of it that changes.
func libraryText(version string) (string, error) {
	var m modules
	var verbs strings.Builder
	for _, verb := range functions {
		own, err := m.script(verb)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&verbs, "redis.register_function('%s', function(KEYS, ARGV)\n", functionName(verb, version))
		if needs, err := needsRecord(verb); err != nil {
			return "", err
		} else if needs {
			verbs.WriteString(begin)
		}
		verbs.WriteString(own + "end)\n")
	}
	return "#!lua name=onejob_" + version + "\n" + strings.ReplaceAll(m.text.String(), nest, "\n") + verbs.String(), nil
}

// needsRecord tells whether a verb is one of those that record.lua speaks of; submit is none.
func needsRecord(verb string) (bool, error) {
	var m modules
	_, err := m.script(verb)
	return m.written["record"], err
}

// Library is its text, as Redis is given it.
func Library() string { return theLibrary().text }

// Function is the name of the function that a script is in this build's library; empty
// for a script that is none.
func Function(script *redis.Script) string { return theLibrary().names[script.Hash()] }

// VerbOf is the verb that a function of this build's library is; empty for any other.
func VerbOf(function string) string { return theLibrary().verbs[function] }
