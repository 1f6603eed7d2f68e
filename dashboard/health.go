package dashboard

import (
	"fmt"
	"time"

	"onejob/roster"
)

// providerState is what is known of a provider now.
type providerState struct {
	Provider
	Queue        queueState
	AskedToWait  time.Time // until when the provider asked to be left alone; may be past
	Workers      []workerState
	Certificates []Certificate
}

// workerState is how one worker gets on with a provider.
type workerState struct {
	Host string
	PID  int
	Seen time.Time
	roster.Provider
}

// P50 and P95 are latencies from claim to outcome.
func (w workerState) P50() time.Duration { return time.Duration(w.P50MS) * time.Millisecond }

// P95 see P50.
func (w workerState) P95() time.Duration { return time.Duration(w.P95MS) * time.Millisecond }

func workersOf(processes []roster.Process, provider string) (workers []workerState) {
	for _, process := range processes {
		for _, served := range process.Providers {
			if served.Name == provider {
				workers = append(workers, workerState{Host: process.Host, PID: process.PID, Seen: process.Seen, Provider: served})
			}
		}
	}
	return workers
}

// total adds the workers up; latencies are the worst of any.
func (s providerState) total() roster.Provider {
	t := roster.Provider{Name: s.Name}
	for _, w := range s.Workers {
		t.InFlight += w.InFlight
		t.Concurrency += w.Concurrency
		t.Calls += w.Calls
		t.Succeeded += w.Succeeded
		t.Failed += w.Failed
		t.Unknown += w.Unknown
		t.P50MS, t.P95MS = max(t.P50MS, w.P50MS), max(t.P95MS, w.P95MS)
		if w.LastError != nil && (t.LastError == nil || w.LastError.At.After(t.LastError.At)) {
			t.LastError = w.LastError
		}
	}
	return t
}

// Total is how all workers together get on with it.
func (s providerState) Total() workerState { return workerState{Provider: s.total()} }

// Waits tells whether it asked to be left alone, and the time is not over.
func (s providerState) Waits() bool { return time.Now().Before(s.AskedToWait) }

// breakers counts the workers by the state of their breakers.
func (s providerState) breakers() map[string]int {
	counts := map[string]int{}
	for _, w := range s.Workers {
		counts[w.Breaker]++
	}
	return counts
}

// Breaker is the state of its circuit breakers, each worker having its own.
func (s providerState) Breaker() badge {
	counts := s.breakers()
	on := len(s.Workers) - counts[roster.BreakerOff]
	switch {
	case len(s.Workers) == 0:
		return badge{"not known", "idle"}
	case on == 0:
		return badge{"off", "idle"}
	case counts["open"] == on:
		return badge{"open", "bad"}
	case counts["open"] > 0:
		return badge{fmt.Sprintf("open in %d of %d", counts["open"], on), "warn"}
	case counts["half-open"] > 0:
		return badge{"half-open", "warn"}
	}
	return badge{"closed", "good"}
}

// badge is a word with the kind that colours it.
type badge struct{ Word, Kind string }

// Health is the one word for all of that: what is worst comes first.
func (s providerState) Health() badge {
	t := s.total()
	switch {
	case len(s.Workers) == 0:
		return badge{"no worker", "bad"}
	case s.Queue.Paused():
		return badge{"paused", "warn"}
	case s.Breaker().Kind == "bad":
		return badge{"breaker open", "bad"}
	case s.Waits():
		return badge{"asked to wait", "warn"}
	case t.Calls > 0 && t.Succeeded == 0:
		return badge{"failing", "bad"}
	case t.Unknown > 0:
		return badge{"outcomes unknown", "warn"}
	case t.Failed > t.Succeeded:
		return badge{"mostly failing", "warn"}
	case t.Calls == 0:
		return badge{"no calls", "idle"}
	}
	return badge{"healthy", "good"}
}
