package chaos_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"onejob/jobs"
)

// overseer is the operator who settles what stays unknown, by what the ledger says.
type overseer struct {
	w        *world
	hurry    atomic.Bool // the callers are done: do not leave it to look-ups
	resolved atomic.Int64
}

// certain is how long after the suspicion, and after a create, the ledger is the
// truth: no create may be sent any more, and a late effect comes by then or never. It
// is seconds more than that takes, for a busy machine lets a provider wait between its
// look at the clock and its line.
const certain = 8 * time.Second

// unhurried is for how long look-ups are given a chance.
const unhurried = 20 * time.Second

// run looks through the unknown jobs every second until ctx ends.
func (o *overseer) run(ctx context.Context) {
	for rest(ctx, time.Second) {
		if err := o.once(ctx); err != nil && ctx.Err() == nil {
			o.w.t.Logf("operator: %v", err)
		}
	}
}

func (o *overseer) once(ctx context.Context) error {
	unknown, err := o.w.list(ctx, jobs.Unknown)
	if err != nil {
		return err
	}
	if err := o.w.ledger.read(); err != nil {
		return err
	}
	var all sync.WaitGroup
	turns := make(chan struct{}, 8)
	for _, job := range unknown {
		for _, a := range job.Attempts {
			if a.State != jobs.AttemptUnknown || !o.mine(&a) {
				continue
			}
			turns <- struct{}{}
			all.Go(func() {
				o.resolve(ctx, job, &a)
				<-turns
			})
		}
	}
	all.Wait()
	return nil
}

// mine tells whether the ledger is certain about an unknown attempt by now, and
// nobody else will settle it.
func (o *overseer) mine(a *jobs.Attempt) bool {
	created, _ := o.w.ledger.truth(a.ID)
	wait := certain
	if a.Provider == "press" && !o.hurry.Load() {
		wait = unhurried
	}
	return time.Since(a.UnknownAt.Go()) > wait && (created.Seq == 0 || time.Since(created.At) > certain)
}

func (o *overseer) resolve(ctx context.Context, job *jobs.Job, a *jobs.Attempt) {
	body := `{"outcome":"failed","reason":"not in the ledger","then":"continue"}`
	if _, result := o.w.ledger.truth(a.ID); result != "" {
		body = fmt.Sprintf(`{"outcome":"succeeded","reason":"in the ledger","result":%s}`, resultJSON(result))
	}
	c := o.w.until(ctx, request{
		kind: "resolve", story: job.Owner + "." + job.IdempotencyKey, owner: operator, api: a.Number, method: http.MethodPost,
		path: fmt.Sprintf("/v1/jobs/%s/attempts/%d/resolve", job.ID, a.Number), body: body,
	})
	if c.ok() {
		o.resolved.Add(1)
	}
}

// list gives every job in a state.
func (w *world) list(ctx context.Context, state jobs.State) ([]*jobs.Job, error) {
	var all []*jobs.Job
	query := url.Values{"state": {string(state)}, "limit": {"100"}}
	for {
		var page struct {
			Data       []*jobs.Job `json:"data"`
			HasMore    bool        `json:"has_more"`
			NextCursor string      `json:"next_cursor"`
		}
		if err := w.look(ctx, "/v1/jobs?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Data...); !page.HasMore {
			return all, nil
		}
		query.Set("after", page.NextCursor)
	}
}
