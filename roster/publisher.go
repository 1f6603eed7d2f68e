package roster

import (
	"context"
	"log/slog"
	"time"

	"github.com/oklog/ulid/v2"
)

// NewID makes the id of a process.
func NewID() string { return "proc_" + ulid.Make().String() }

// Publisher writes the record of one process again and again.
type Publisher struct {
	Roster Roster
	// Describe makes the record, at every tick; its Seen is set here. It must be
	// quick and must not ask the store.
	Describe func() Process
	// Every is the pause between two records. Defaults to DefaultEvery.
	Every time.Duration
	// Log is told when records cannot be written any more, and when they can
	// again: once each. Defaults to nowhere.
	Log *slog.Logger

	failing bool
}

// Bounds of writing, so that a store that hangs makes no queue of writers, and of
// removing, for the process is about to end then.
const (
	writeTime  = time.Second
	removeTime = time.Second
)

// Run writes until ctx ends, then removes the record. It has no error: a process
// that is not on the list works all the same.
func (p *Publisher) Run(ctx context.Context) {
	every := p.Every
	if every <= 0 {
		every = DefaultEvery
	}
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		id := p.write(ctx)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			p.remove(context.WithoutCancel(ctx), id)
			return
		}
	}
}

// write finishes although ctx ends meanwhile: a record that arrived after its
// removal would tell of a process that is gone.
func (p *Publisher) write(ctx context.Context) (id string) {
	record := p.Describe()
	record.Seen = time.Now().UTC()
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	err := p.Roster.Write(bounded, record)
	switch {
	case err != nil && !p.failing:
		p.failing = true
		p.Log.WarnContext(ctx, "this process is not on the list of processes for now", "process", record.ID, "error", err)
	case err == nil && p.failing:
		p.failing = false
		p.Log.InfoContext(ctx, "this process is on the list of processes again", "process", record.ID)
	}
	return record.ID
}

func (p *Publisher) remove(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, removeTime)
	defer cancel()
	if err := p.Roster.Remove(ctx, id); err != nil {
		p.Log.DebugContext(ctx, "the record of this process runs out by itself", "process", id, "error", err)
	}
}
