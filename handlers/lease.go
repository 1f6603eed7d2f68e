package handlers

import (
	"sync"
	"time"

	"onejob/providers"
)

// lease is how long a claim entitles its worker to call. It is counted from
// before the claim, or the latest beat, was sent, by the larger of monotonic
// and wall time: a machine that slept has not paused its lease.
type lease struct {
	mu      sync.Mutex
	length  time.Duration
	since   time.Time
	revoked bool
}

func newLease(length time.Duration) *lease {
	return &lease{length: length, since: time.Now()}
}

// extend moves the lease's beginning to a beat that was answered.
func (l *lease) extend(sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since = sent
}

func (l *lease) revoke() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revoked = true
}

// holds returns nil while the call may leave. The end is kept a quarter away,
// for the bytes still have to get there.
func (l *lease) holds() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.revoked || elapsed(l.since) > l.length*3/4 {
		return providers.ErrNotEntitled
	}
	return nil
}

// ends is when the lease ends if it is not extended.
func (l *lease) ends() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.since.Add(l.length)
}

func elapsed(since time.Time) time.Duration {
	monotonic := time.Since(since)
	wall := time.Now().Round(0).Sub(since.Round(0))
	return max(monotonic, wall)
}
