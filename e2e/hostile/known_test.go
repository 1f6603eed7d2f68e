package hostile

import (
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// Kinds of things earlier answers have told.
const (
	kindJob     = "job"     // of our own owner
	kindForeign = "foreign" // of another
	kindETag    = "etag"
	kindCursor  = "cursor"
	kindToken   = "token" // of callbacks
)

// known is what earlier answers have told, so that later requests reach further than
// the door: the latest of each kind.
type known struct {
	mu     sync.Mutex
	things map[string][]string
	next   map[string]int
}

const keptOfKind = 512

func newKnown() *known { return &known{things: map[string][]string{}, next: map[string]int{}} }

func (k *known) add(kind, thing string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.things[kind]) < keptOfKind {
		k.things[kind] = append(k.things[kind], thing)
		return
	}
	k.things[kind][k.next[kind]] = thing
	k.next[kind] = (k.next[kind] + 1) % keptOfKind
}

// one of a kind; a word that is none while nothing is known.
func (k *known) one(rnd *rand.Rand, kind string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.things[kind]); n > 0 {
		return k.things[kind][rnd.IntN(n)]
	}
	return "none"
}

var (
	jobID      = regexp.MustCompile(`^\{"id":"(job_[A-Za-z0-9_]+)","owner":"(\w+)"`)
	nextCursor = regexp.MustCompile(`"next_cursor":"([^"]+)"`)
)

// learn takes what an answer tells.
func (k *known) learn(a *answer) {
	if a.status >= http.StatusBadRequest || !strings.HasPrefix(a.media(), "application/json") {
		return
	}
	if tag := a.header.Get("Etag"); tag != "" {
		k.add(kindETag, tag)
	}
	if job := jobID.FindSubmatch(a.body); len(job) == 3 && string(job[2]) == "dev" {
		k.add(kindJob, string(job[1]))
	}
	if cursor := nextCursor.FindSubmatch(a.body); cursor != nil {
		k.add(kindCursor, string(cursor[1]))
	}
}
