package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/jobs"
)

// lookout keeps this process in touch with the store, also when it has nothing
// to do there: a server that was replaced is met within a second, and what it
// lost is noticed by whoever knows most.
type lookout struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	rewinds []seenRewind
}

type seenRewind struct {
	at time.Time
	jobs.Rewound
}

const (
	lookEvery = time.Second
	// factsEvery is how often what the metrics tell of the store is read.
	factsEvery = 30 * time.Second
	// noteFor is how long a rewound partition is told of on /readyz.
	noteFor = time.Hour
)

// start looks every second, and has the deployment's schema and facts read now and
// then.
func (l *lookout) start(rdb redis.UniversalClient, schema, facts func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	l.done.Go(func() {
		ticker, schemas, slower := time.NewTicker(lookEvery), time.NewTicker(schemaEvery), time.NewTicker(factsEvery)
		defer ticker.Stop()
		defer schemas.Stop()
		defer slower.Stop()
		facts(ctx)
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				// Only the connection matters: its making compares (Clockwork).
				_ = rdb.Ping(ctx).Err()
			case <-schemas.C:
				schema(ctx)
			case <-slower.C:
				facts(ctx)
			}
		}
	})
}

func (l *lookout) stop() {
	if l.cancel != nil {
		l.cancel()
	}
	l.done.Wait()
}

// rewound hears of a partition that went back in time.
func (a *App) rewound(r jobs.Rewound) {
	a.log.Error("the store went back in time: acknowledged writes were lost; what may have been sent is unknown now",
		"reason", "store_rewound", "partition", r.Partition, "run_id", r.RunID, "known_seq", r.Known, "found_seq", r.Found,
		"attempts_unknown", r.Suspected)
	a.metrics.rewound.Inc()
	a.look.mu.Lock()
	defer a.look.mu.Unlock()
	a.look.rewinds = append(a.look.rewinds, seenRewind{time.Now(), r})
}

// count is how many partitions this process found rewound.
func (l *lookout) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.rewinds)
}

// notes are what an operator should know of the last hour.
func (l *lookout) notes(now time.Time) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var notes []string
	for _, r := range l.rewinds {
		if now.Sub(r.at) < noteFor {
			notes = append(notes, fmt.Sprintf(
				"store_rewound: partition %d went back in time at %s (seq %d, known %d); %d attempts became unknown",
				r.Partition, r.at.UTC().Format(time.RFC3339), r.Found, r.Known, r.Suspected))
		}
	}
	return notes
}
