// Package witness remembers, outside of the store, what callers were acknowledged,
// what they were shown and what the provider was asked for, and holds the records
// against it. A store that lost something cannot hide it from a witness.
//
// The tests of power cuts and failovers share it: they bring a Redis and lose it.
package witness

import (
	"maps"
	"sync"
	"time"

	"onejob/jobs"
)

// Sight is a job as a caller was shown it, between two moments of his.
type Sight struct {
	Start, End time.Time
	Era        int // of the store; in odd ones it is being lost
	Job        jobs.Job
}

// Witness is what is remembered. It is safe for concurrent use.
type Witness struct {
	Press *Press

	trails map[string]read // Judge's own

	mu     sync.Mutex
	era    int
	acked  map[string]string  // job id → idempotency key
	sights map[string][]Sight // by job id
	odd    []string           // answers nobody should get
}

// New returns a witness of what the press is asked for.
func New(press *Press) *Witness {
	return &Witness{Press: press, acked: map[string]string{}, sights: map[string][]Sight{}, trails: map[string]read{}}
}

// Turn begins another era: an odd one when the store is about to be lost, an even one
// when it is back. What is seen of a job is compared within an even one only.
func (w *Witness) Turn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.era++
}

func (w *Witness) now() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.era
}

// saw remembers an answer that had been asked for in an era.
func (w *Witness) saw(key string, s Sight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if key != "" {
		w.acked[s.Job.ID] = key
	}
	if s.Era == w.era && s.Era%2 == 0 {
		w.sights[s.Job.ID] = append(w.sights[s.Job.ID], s)
	}
}

// Acknowledged gives the keys of the jobs that were acknowledged, by job id.
func (w *Witness) Acknowledged() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.acked)
}

// wonders remembers an answer that nobody should get: what is sent again with the same
// key and body is neither refused nor in conflict.
func (w *Witness) wonders(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.odd = append(w.odd, what)
}

func (w *Witness) unanswered(say func(string, ...any)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, what := range w.odd {
		say("I7: %s", what)
	}
}

// sightsOf gives what was seen of a job, in the order it was asked for.
func (w *Witness) sightsOf(id string) []Sight {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Sight(nil), w.sights[id]...)
}

// Forget makes a lost job one that nobody counts on any more.
func (w *Witness) Forget(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.acked, id)
}
