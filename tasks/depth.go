package tasks

import (
	"sync"
	"time"
)

// depth is what this process knows of a provider's queue.
type depth struct {
	mu      sync.Mutex
	waiting int  // when it was looked at, and what this process has put there since
	lines   bool // somebody waited in a line then
	looked  time.Time
	flying  int // being placed by this process
}

func (q *Queue) depthOf(provider string) *depth {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.depths == nil {
		q.depths = map[string]*depth{}
	}
	if q.depths[provider] == nil {
		q.depths[provider] = &depth{}
	}
	return q.depths[provider]
}

// enter begins to place n and tells for how many of them there is room in a window
// by what is known, and what of the window is left for the rest: the store is to be
// asked about them. leave must follow.
func (d *depth) enter(n, window int) (room, left int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	left = window - d.flying
	if !d.lines && time.Since(d.looked) < believed {
		room = min(n, max(0, left-d.waiting))
	}
	d.flying += n
	return room, left - room
}

// leave ends what enter began for n, of which so many are on the queue now.
func (d *depth) leave(n, queued int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flying -= n
	d.waiting += queued
}

func (d *depth) learn(waiting int, lines bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting, d.lines, d.looked = waiting, lines, time.Now()
}

// lined tells whether somebody waited in a line at the latest look.
func (d *depth) lined() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lines
}
