package openai

import (
	"context"
	"net/http"
	"time"

	"onejob/api"
	"onejob/jobs"
)

// headerJob carries the id of the job an answer is about.
const headerJob = "X-Job-Id"

// complete is POST /chat/completions.
func (d *Door) complete(w http.ResponseWriter, r *http.Request) error {
	who, err := d.api.Writer(w, r)
	if err != nil {
		return err
	}
	key, err := api.IdempotencyKey(r.Header)
	if err != nil {
		return err
	}
	body, err := api.ReadBody(w, r)
	if err != nil {
		return err
	}
	asked, err := parse(body)
	if err != nil {
		return err
	}
	submitted, err := d.api.Submit(r.Context(), api.Intent{Who: who, Key: key, Body: asked.job()})
	if err != nil {
		return err
	}
	w.Header().Set(headerJob, submitted.Job.ID)
	if !submitted.Created {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	ctx, cancel := context.WithTimeout(r.Context(), d.config.Wait)
	defer cancel()
	if asked.stream && !settled(submitted.Job) {
		return d.answerStream(ctx, w, r, asked, submitted.Job)
	}
	job, err := d.api.Hold(ctx, submitted.Job, settled)
	if err := d.stillWanted(r, job, err); err != nil {
		return err
	}
	if f := d.failureOf(job); f != nil {
		return f.write(w)
	}
	if asked.stream {
		events, err := eventsOf(job, asked.usage)
		if err != nil {
			return err
		}
		return sendEvents(api.OpenStream(w), events)
	}
	whole, err := completionOf(job)
	if err != nil {
		return err
	}
	return send(w, http.StatusOK, whole)
}

// stillWanted returns the error of a wait that came to nothing: the caller has
// gone, or the store was away to the end.
func (d *Door) stillWanted(r *http.Request, job *jobs.Job, err error) error {
	if settled(job) {
		return nil
	}
	if gone := r.Context().Err(); gone != nil {
		return gone
	}
	return err
}

// grace is how long after an outcome can no longer settle by itself it is
// believed: the clocks of this process and the store differ, and what came at the
// last moment is still being written.
const grace = 2 * time.Second

// settled tells whether waiting on is of no use: the job has ended, or nothing
// but a person can end it.
func settled(job *jobs.Job) bool { return settledAt(job, time.Now()) }

func settledAt(job *jobs.Job, now time.Time) bool {
	return job.State.Ended() || job.State == jobs.Unknown && !settlesItself(job, now.Add(-grace))
}

// settlesItself tells whether an unknown outcome may still become known: a late
// answer is listened to, or the provider is going to be asked.
func settlesItself(job *jobs.Job, now time.Time) bool {
	if b := job.BlockedBy; b != nil && (!b.NextLookupAt.IsZero() || b.ListeningUntil.Go().After(now)) {
		return true
	}
	for _, a := range job.Attempts {
		if a.State == jobs.AttemptUnknown && a.Deadline.Go().After(now) {
			return true
		}
	}
	return false
}
