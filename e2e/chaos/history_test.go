package chaos_test

import (
	"sync"
	"time"
)

// call is one request of the history and what was answered; status 0: nobody answered.
type call struct {
	Key        string // of the story: owner and idempotency key
	Owner      string // whose credentials; "operator" for an operator's
	IdemKey    string // the Idempotency-Key, of a submit
	Kind       string
	Path, Body string // what was asked
	IfMatch    int64  // the version it was asked for; 0: any
	Start, End time.Time
	Status     int
	Replayed   bool    // Idempotent-Replayed
	Problem    problem // of a refusal
	Broken     string  // what is wrong with the answer itself
	Job        told
}

// history is every call that was made, whoever made it.
type history struct {
	mu    sync.Mutex
	calls []call
}

func (h *history) add(c call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, c)
}

// stories gives every key its calls.
func (h *history) stories() map[string]*story {
	h.mu.Lock()
	defer h.mu.Unlock()
	stories := map[string]*story{}
	for _, c := range h.calls {
		s := stories[c.Key]
		if s == nil {
			s = &story{}
			stories[c.Key] = s
		}
		s.Calls = append(s.Calls, c)
		if c.Job.ID != "" && s.Job.ID == "" {
			s.Job.ID = c.Job.ID
		}
	}
	return stories
}
