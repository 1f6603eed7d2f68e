package app

import (
	"context"
	"time"

	"onejob/tasks"
)

// tidyEvery is how often a worker takes dead ones off asynq's lists.
const tidyEvery = time.Minute

// tidy keeps asynq's lists of servers from growing with every worker that is killed.
// Every worker does it; none has to.
func (w *workers) tidy(ctx context.Context, queue *tasks.Queue) {
	ticker := time.NewTicker(tidyEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := queue.Tidy(ctx); err != nil && ctx.Err() == nil {
				w.app.log.DebugContext(ctx, "dead workers stay listed for now", "error", err)
			}
		}
	}
}
