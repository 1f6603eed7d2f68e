package tasks

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
)

// pumpEvery is how often a Pump looks whether anything is parked: one round trip
// for all providers. It is the longest that a queue which has run empty waits.
const pumpEvery = 200 * time.Millisecond

// Pump keeps the queues of the providers a worker serves filled from their lines. It
// has no state that matters: any number of workers pump the same lines.
type Pump struct {
	queue     *Queue
	log       *slog.Logger
	providers []string
	pumped    map[string]*pumped
}

// pumped is one provider's.
type pumped struct {
	delivered atomic.Int64 // since the queue was filled
	window    int64
	wanted    chan struct{} // holds one when it is to be filled
}

// NewPump returns a Pump for providers; the Queue must have been made with Fairly.
// Run runs it.
func NewPump(queue *Queue, providers []string, log *slog.Logger) *Pump {
	p := &Pump{queue: queue, log: log, providers: providers, pumped: map[string]*pumped{}}
	for _, name := range providers {
		p.pumped[name] = &pumped{window: int64(queue.window(name)), wanted: make(chan struct{}, 1)}
	}
	return p
}

// Around tells the pump of what next is given: it makes room on the queue. When a quarter
// of the window is used up that is filled again, so that takers never find the queue empty;
// or half, while nobody waits in a line by what this process knows, for another may know
// better.
func (p *Pump) Around(provider string, next asynq.Handler) asynq.Handler {
	one := p.pumped[provider]
	return asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
		most := one.window / 2
		if p.queue.depthOf(provider).lined() {
			most = one.window / 4
		}
		if one.delivered.Add(1) >= most {
			one.want()
		}
		return next.ProcessTask(ctx, task)
	})
}

func (o *pumped) want() {
	select {
	case o.wanted <- struct{}{}:
	default:
	}
}

// Run pumps until ctx ends. What it has taken out of a line by then it still
// enqueues.
func (p *Pump) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, name := range p.providers {
		running.Go(func() { p.serve(ctx, name) })
	}
	ticker := time.NewTicker(pumpEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			running.Wait()
			return
		case <-ticker.C:
			p.look(ctx)
		}
	}
}

// look has the queues filled of all providers for which something is parked.
func (p *Pump) look(ctx context.Context) {
	if err := p.queue.look(ctx, p.providers); err != nil {
		if ctx.Err() == nil {
			p.log.DebugContext(ctx, "parked wake-ups not looked for", "error", err)
		}
		return
	}
	for _, name := range p.providers {
		if p.queue.depthOf(name).lined() {
			p.pumped[name].want()
		}
	}
}

func (p *Pump) serve(ctx context.Context, provider string) {
	one := p.pumped[provider]
	for {
		select {
		case <-ctx.Done():
			return
		case <-one.wanted:
			one.delivered.Store(0)
			p.fill(ctx, provider)
		}
	}
}

// fillTime bounds one filling.
const fillTime = 10 * time.Second

func (p *Pump) fill(ctx context.Context, provider string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fillTime)
	defer cancel()
	if err := p.queue.refill(ctx, provider); err != nil {
		p.log.WarnContext(ctx, "parked wake-ups not queued; the sweeper will wake them", "provider", provider, "error", err)
	}
}
