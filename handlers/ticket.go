package handlers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"

	"onejob/jobs"
	"onejob/tasks"
)

// ticketMargin keeps a ticket from reopening a job whose record is about to expire.
const ticketMargin = time.Minute

// Tickets handles the tickets an operator runs to retry failed jobs.
type Tickets struct {
	Store *jobs.Store
	Waker Waker
	Log   *slog.Logger
	// Observe is told what came of every ticket that was run: opened, or the code of
	// the refusal. May be nil.
	Observe func(answer string)
}

// ticketOpened is Observe's answer for a ticket that opened an attempt.
const ticketOpened = "opened"

func (t Tickets) observe(answer string) {
	if t.Observe != nil {
		t.Observe(answer)
	}
}

// Handle opens the next attempt of the ticket's job, if the job still is as it
// was when it failed. Run twice, or after the job moved on, it does nothing.
func (t Tickets) Handle(ctx context.Context, task *asynq.Task) error {
	ticket, err := tasks.ReadTicket(task)
	if err != nil {
		return err
	}
	id, _ := asynq.GetTaskID(ctx)
	changed, err := t.Store.Open(ctx, jobs.OpenRequest{Decision: jobs.Decision{
		JobID: ticket.JobID, ExpectVersion: ticket.Version, Op: id,
		Actor: "operator:queue", Reason: "ticket",
	}, Margin: ticketMargin})
	if refusal, ok := errors.AsType[*jobs.Refusal](err); ok {
		t.Log.InfoContext(ctx, "ticket without effect", "job", ticket.JobID, "why", refusal.Code)
		t.observe(string(refusal.Code))
		return nil
	}
	if err != nil {
		return fmt.Errorf("retrying job %s: %w", ticket.JobID, err)
	}
	t.Log.InfoContext(ctx, "ticket run", "job", ticket.JobID, "attempt", len(changed.Job.Attempts), "owner", changed.Job.Owner)
	t.observe(ticketOpened)
	for _, w := range changed.Wakes {
		t.Waker.Wake(ctx, w)
	}
	return nil
}
