package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"onejob/client"
)

// screen is where progress is shown: one line that is written over on a terminal,
// a line a change elsewhere, nothing for programs.
type screen struct {
	w        io.Writer
	terminal bool
	quiet    bool

	mu     sync.Mutex
	status string // what the line shows
	drawn  bool
	began  time.Time
}

func newScreen(w io.Writer, quiet bool) *screen {
	return &screen{w: w, terminal: isTerminal(w), quiet: quiet, began: time.Now()}
}

// say writes a line that stays, for programs, too.
func (s *screen) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	_, _ = fmt.Fprintf(s.w, format+"\n", args...)
}

// show puts the job on the line.
func (s *screen) show(job *client.Job) {
	if status := standing(job); !s.quiet {
		s.set(status)
	}
}

func (s *screen) set(status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status == s.status {
		return
	}
	s.status = status
	if !s.terminal {
		_, _ = fmt.Fprintf(s.w, "%s (%s)\n", status, time.Since(s.began).Round(100*time.Millisecond))
		return
	}
	s.draw()
}

// draw writes the line over with the time that has passed.
func (s *screen) draw() {
	s.wipe()
	_, _ = fmt.Fprintf(s.w, "%s (%s)", s.status, span(time.Since(s.began)))
	s.drawn = true
}

// wipe takes the line away, if one is drawn.
func (s *screen) wipe() {
	if s.drawn {
		_, _ = fmt.Fprint(s.w, "\r\x1b[K")
		s.drawn = false
	}
}

// retried tells of a server that does not answer.
func (s *screen) retried(a client.Attempted) {
	if s.quiet || a.Call == "events" || a.Call == "get" {
		return // the wait beside them tells of it
	}
	s.set(plain(fmt.Sprintf("%s: no answer (%v); trying again", a.Call, a.Err)))
}

// follow shows the job until ctx ends: at each of its events, and, on a terminal,
// every second.
func (s *screen) follow(ctx context.Context, c *client.Client, id string) {
	if s.quiet {
		<-ctx.Done()
		return
	}
	var tick sync.WaitGroup
	if s.terminal {
		tick.Go(func() { s.tick(ctx) })
	}
	for _, err := range c.Events(ctx, id, "") {
		if err != nil {
			break // the wait has the same to tell
		}
		if job, err := c.Get(ctx, id); err == nil {
			s.show(job)
		}
	}
	tick.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
}

func (s *screen) tick(ctx context.Context) {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			s.mu.Lock()
			s.draw()
			s.mu.Unlock()
		}
	}
}

// standing is how a job stands, in a line.
func standing(job *client.Job) string {
	text := cell(string(job.State))
	if n := len(job.Attempts); n > 0 {
		last := job.Attempts[n-1]
		text += fmt.Sprintf(": attempt %d at %s is %s", last.Number, cell(last.Provider), cell(string(last.State)))
		if last.Reason != "" {
			text += ", " + cell(last.Reason)
		}
	}
	return text
}
