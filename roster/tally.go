package roster

import (
	"slices"
	"sync"
	"time"
)

// What a Tally looks back on.
const (
	// Window is how far its counts reach back.
	Window = 5 * time.Minute
	// Latencies is how many calls its percentiles are of, at most.
	Latencies = 200

	slot  = 10 * time.Second
	slots = int(Window / slot)
)

// Outcome of a call, as a Tally counts it.
type Outcome string

// Outcomes.
const (
	Succeeded Outcome = "succeeded"
	Failed    Outcome = "failed"
	Unknown   Outcome = "unknown"
)

// Tally counts the calls of one provider in one process. The zero value is ready
// for use; it is safe for concurrent use. It holds the same small memory however
// many calls there are: counts are kept by ten seconds, so that the window is
// right to ten seconds.
type Tally struct {
	mu        sync.Mutex
	inFlight  int
	counts    [slots]count
	latencies []time.Duration // a ring once full
	next      int
	last      *LastError
}

type count struct {
	slot                       int64
	succeeded, failed, unknown int
}

// Began counts a call in.
func (t *Tally) Began() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inFlight++
}

// Left counts a call out, whatever became of it.
func (t *Tally) Left() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inFlight--
}

// Ended counts how a call ended at a time, having taken so long. The reason is
// kept for a call that did not succeed.
func (t *Tally) Ended(at time.Time, o Outcome, reason string, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.slotOf(at)
	switch o {
	case Succeeded:
		c.succeeded++
	case Failed:
		c.failed++
	case Unknown:
		c.unknown++
	}
	if o != Succeeded {
		t.last = &LastError{Reason: reason, At: at.UTC()}
	}
	if len(t.latencies) < Latencies {
		t.latencies = append(t.latencies, took)
		return
	}
	t.latencies[t.next] = took
	t.next = (t.next + 1) % Latencies
}

// slotOf is the count of the ten seconds that at is in, emptied if it was last
// used for others.
func (t *Tally) slotOf(at time.Time) *count {
	n := slotNumber(at)
	c := &t.counts[n%int64(slots)]
	if c.slot != n {
		*c = count{slot: n}
	}
	return c
}

func slotNumber(at time.Time) int64 { return at.Unix() / int64(slot/time.Second) }

// InFlight is how many calls have begun and not been left.
func (t *Tally) InFlight() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.inFlight
}

// Fill writes what the tally knows at a time into a provider's record.
func (t *Tally) Fill(p *Provider, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.InFlight = t.inFlight
	p.Calls, p.Succeeded, p.Failed, p.Unknown = 0, 0, 0, 0
	for i := range t.counts {
		c := &t.counts[i]
		if age := slotNumber(now) - c.slot; age < 0 || age >= int64(slots) {
			continue
		}
		p.Succeeded += c.succeeded
		p.Failed += c.failed
		p.Unknown += c.unknown
	}
	p.Calls = p.Succeeded + p.Failed + p.Unknown
	p.P50MS, p.P95MS = t.percentile(50), t.percentile(95)
	p.LastError = nil
	if t.last != nil {
		last := *t.last
		p.LastError = &last
	}
}

// percentile is the smallest latency that so many of a hundred do not exceed.
func (t *Tally) percentile(percent int) int64 {
	if len(t.latencies) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t.latencies))
	rank := (len(sorted)*percent + 99) / 100
	return sorted[rank-1].Milliseconds()
}
