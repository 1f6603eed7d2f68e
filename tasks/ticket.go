package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"

	"onejob/jobs"
)

// TypeTicket is the type of a ticket: running it retries a failed job.
const TypeTicket = "job:retry"

// ticketAfterExpiry is how long after the record's expiry a ticket would run by
// itself: never in time to do anything. An operator runs it before.
const ticketAfterExpiry = 24 * time.Hour

// Ticket is the payload of a ticket. Version is the one the job failed at: it is
// good for that failure only. Summary is for the person who looks at the queue.
type Ticket struct {
	Schema  int    `json:"v,omitempty"` // of the payload; none: the first
	JobID   string `json:"job"`
	Version int64  `json:"version"`
	Summary string `json:"summary"`
}

// ReadTicket reads a delivered task. The error is a NewerTask, or ends in asynq.SkipRetry.
func ReadTicket(task *asynq.Task) (Ticket, error) { return read(task, TypeTicket, ParseTicket) }

// ParseTicket reads the payload of a ticket.
func ParseTicket(payload []byte) (Ticket, error) {
	var t Ticket
	if err := json.Unmarshal(payload, &t); err != nil {
		return Ticket{}, fmt.Errorf("reading a ticket: %w", err)
	}
	if err := readable(TypeTicket, t.Schema); err != nil {
		return Ticket{}, err
	}
	if t.JobID == "" || t.Version < 1 {
		return Ticket{}, fmt.Errorf("a ticket without a job or a version: %q", payload)
	}
	return t, nil
}

// EnqueueTicket puts the ticket of a failed job on the operator queue. One that
// is there already stays as it is.
func (q *Queue) EnqueueTicket(ctx context.Context, job *jobs.Job) error {
	ticket := Ticket{JobID: job.ID, Version: job.Version, Summary: summary(job)}
	payload, err := json.Marshal(ticket)
	if err != nil {
		return fmt.Errorf("writing a ticket: %w", err)
	}
	id := fmt.Sprintf("%s-retry-v%d", job.ID, job.Version)
	return q.put(ctx, id, asynq.NewTask(TypeTicket, payload,
		asynq.TaskID(id), asynq.Queue(QueueOperator), asynq.MaxRetry(maxRetry), asynq.Timeout(time.Minute),
		asynq.ProcessAt(job.ExpiresAt.Go().Add(ticketAfterExpiry))))
}

// put puts a task on its queue. That one with its id is there already is no error.
func (q *Queue) put(ctx context.Context, id string, task *asynq.Task) error {
	_, err := q.enqueuer(false).EnqueueContext(ctx, task)
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		return fmt.Errorf("enqueuing %s: %w", id, err)
	}
	return nil
}

func summary(job *jobs.Job) string {
	if job.Error == nil {
		return fmt.Sprintf("route %s failed", job.Route)
	}
	return fmt.Sprintf("route %s, owner %s: %s after %d attempts", job.Route, job.Owner, job.Error.Code, len(job.Attempts))
}
