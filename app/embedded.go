package app

import (
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Times to live of the embedded Redis are let run by a clock of ours: miniredis's own
// (ClockTTL) goes through all keys at every command, so that what one costs, and a
// process that only polls, grew with what was stored. A time to live ends early by as
// much as the clock's step at most.
const (
	leastStep = 20 * time.Millisecond
	mostStep  = time.Second
	// stepShare keeps the clock at a hundredth of a core, however much is stored.
	stepShare = 100
)

// embedded is a Redis inside this process: memory is all it has.
type embedded struct {
	server  *miniredis.Miniredis
	stop    chan struct{}
	stopped sync.WaitGroup
}

func embed() (*embedded, error) {
	e := &embedded{server: miniredis.NewMiniRedis(), stop: make(chan struct{})}
	if err := e.server.Start(); err != nil {
		return nil, fmt.Errorf("starting the embedded Redis: %w", err)
	}
	e.stopped.Go(e.run)
	return e, nil
}

// Addr is where it listens.
func (e *embedded) Addr() string { return e.server.Addr() }

// Close ends it; what it holds is gone.
func (e *embedded) Close() {
	close(e.stop)
	e.stopped.Wait()
	e.server.Close()
}

// run lets times to live pass.
func (e *embedded) run() {
	timer := time.NewTimer(leastStep)
	defer timer.Stop()
	for last := time.Now(); ; {
		select {
		case <-e.stop:
			return
		case <-timer.C:
		}
		now := time.Now()
		e.server.FastForward(now.Sub(last))
		last = now
		timer.Reset(min(max(leastStep, stepShare*time.Since(now)), mostStep))
	}
}
