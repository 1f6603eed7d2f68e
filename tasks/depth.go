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

// enter begins to place one and tells whether there is room for it in a window by
// what is known; if not, the store is to be asked for what is left of the window.
// leave must follow.
func (d *depth) enter(window int) (room bool, left int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	left = window - d.flying
	room = !d.lines && d.waiting < left && time.Since(d.looked) < believed
	d.flying++
	return room, left
}

// leave ends what enter began; queued: there is one more on the queue.
func (d *depth) leave(queued bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flying--
	if queued {
		d.waiting++
	}
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
