package tasks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"onejob/jobs"
)

// NewerTask is a task that a newer onejob made: its type is none that this one knows,
// or its payload is of a newer schema. A worker that meets one leaves it on the queue.
type NewerTask struct {
	Type   string
	Schema int // of the payload; 0: the type is not known
}

func (n *NewerTask) Error() string {
	if n.Schema == 0 {
		return fmt.Sprintf("a task of type %q, which this onejob does not know: a newer one made it; upgrade this worker", n.Type)
	}
	return fmt.Sprintf("a task of type %q was made by a newer onejob: its payload has schema %d, this worker reads up to %d; upgrade it",
		n.Type, n.Schema, jobs.Schema)
}

// ForNewer tells whether an error says that only a newer onejob can deal with what was
// met. The queue is to bring such a task again, without counting, until one does.
func ForNewer(err error) bool {
	var task *NewerTask
	var record *jobs.NewerSchema
	return errors.As(err, &task) || errors.As(err, &record)
}

// read checks that a task is one of a type that this build reads, and reads it with
// parse. What cannot be read at all will not be the next time: asynq archives it.
func read[T any](task *asynq.Task, kind string, parse func([]byte) (T, error)) (T, error) {
	var none T
	if task.Type() != kind {
		return none, &NewerTask{Type: task.Type()}
	}
	payload, err := parse(task.Payload())
	if err != nil && !ForNewer(err) {
		return none, fmt.Errorf("%w: %w", err, asynq.SkipRetry)
	}
	return payload, err
}

// readable judges the schema that a payload says it has; none is the first.
func readable(kind string, schema int) error {
	if schema > jobs.Schema {
		return &NewerTask{Type: kind, Schema: schema}
	}
	return nil
}

// leftEvery is how often it is told that something was left.
const leftEvery = time.Minute

// Left tells an operator, once a minute at most, that a newer onejob is needed for
// what was met. Its zero value is ready, and safe for concurrent use.
type Left struct {
	mu    sync.Mutex
	next  time.Time
	times int
}

// Note counts n things met, and tells of all since it was told the last time.
func (l *Left) Note(ctx context.Context, log *slog.Logger, n int, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.times += n
	if now := time.Now(); now.After(l.next) {
		log.WarnContext(ctx, "left to a newer onejob", "times", l.times, "why", why)
		l.times, l.next = 0, now.Add(leftEvery)
	}
}

// Around has what a handler leaves told of.
func (l *Left) Around(log *slog.Logger, next asynq.Handler) asynq.Handler {
	return asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
		err := next.ProcessTask(ctx, task)
		if ForNewer(err) {
			l.Note(ctx, log, 1, err)
		}
		return err //nolint:wrapcheck // the handler's own, which asynq judges
	})
}
