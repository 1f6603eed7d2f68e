package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"onejob/api"
	"onejob/jobs"
)

// answerStream is an answer as server-sent events, begun while the job is not
// settled: comments until it is, then its result in chunks, or an error event. No
// [DONE] comes after an error: it says that the answer is whole.
func (d *Door) answerStream(ctx context.Context, w http.ResponseWriter, r *http.Request, asked *request, job *jobs.Job) error {
	stream := api.OpenStream(w)
	job, err := d.holdWarm(ctx, stream, job)
	if r.Context().Err() != nil {
		return nil //nolint:nilerr // the caller has gone; the job goes on
	}
	f := d.failureOf(job)
	if err != nil && !settled(job) {
		f = &failure{status: http.StatusServiceUnavailable, said: said{
			Code: "store_unavailable", Message: "The store did not answer in time. " + sameKey,
		}}
	}
	if f != nil {
		return sendFailure(stream, f)
	}
	events, err := eventsOf(job, asked.usage)
	if err != nil {
		return errors.Join(err, sendFailure(stream, &failure{status: http.StatusInternalServerError, said: said{
			Code: "internal", Message: fmt.Sprintf("The result of job %s cannot be shown in chunks. Read it with GET /v1/jobs/%s.", job.ID, job.ID),
		}}))
	}
	return sendEvents(stream, events)
}

func sendFailure(stream *api.Stream, f *failure) error {
	body, err := f.encode()
	if err != nil {
		return err
	}
	return stream.Write(event(body))
}

// eventsOf is the result of a succeeded job as events, to the end.
func eventsOf(job *jobs.Job, usage bool) ([]string, error) {
	whole, err := completionOf(job)
	if err != nil {
		return nil, err
	}
	chunks, err := chunksOf(whole, usage)
	if err != nil {
		return nil, err
	}
	events := make([]string, 0, len(chunks)+1)
	for _, chunk := range chunks {
		events = append(events, event(chunk))
	}
	return append(events, event([]byte("[DONE]"))), nil
}

func event(data []byte) string { return "data: " + string(data) + "\n\n" }

// writeSize is about how much is written at once, in bytes.
const writeSize = 64 << 10

func sendEvents(stream *api.Stream, events []string) error {
	var text strings.Builder
	for i, e := range events {
		text.WriteString(e)
		if text.Len() < writeSize && i < len(events)-1 {
			continue
		}
		if err := stream.Write(text.String()); err != nil {
			return err
		}
		text.Reset()
	}
	return nil
}

// holdWarm is Hold with a comment at once, by which the client learns that it is
// connected, and one each Heartbeat.
func (d *Door) holdWarm(ctx context.Context, stream *api.Stream, job *jobs.Job) (*jobs.Job, error) {
	for {
		if err := stream.Write(": waiting for job " + job.ID + "\n\n"); err != nil {
			return job, err
		}
		beat, cancel := context.WithTimeout(ctx, d.config.Heartbeat)
		seen, err := d.api.Hold(beat, job, settled)
		cancel()
		if settled(seen) || ctx.Err() != nil || d.stopping() {
			return seen, err
		}
		job = seen
	}
}

func (d *Door) stopping() bool {
	select {
	case <-d.api.Stopping():
		return true
	default:
		return false
	}
}
