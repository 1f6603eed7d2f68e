package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"onejob/auth"
	"onejob/jobs"
)

// Limits tell how much an owner may ask for.
type Limits interface {
	// Request takes one request of an owner. A wait says that it is one too many, and
	// when there is one again; rate and burst are what he may make then.
	Request(ctx context.Context, owner string) (wait time.Duration, rate, burst int)
	// Job takes a place for a job an owner wants to make; not ok: he has too many that
	// have not ended. Unused gives the place back.
	Job(ctx context.Context, owner string) (open, most int, ok bool)
	Unused(owner string)
}

// unlimited are the limits where there are none.
type unlimited struct{}

func (unlimited) Request(context.Context, string) (time.Duration, int, int) { return 0, 0, 0 }
func (unlimited) Job(context.Context, string) (int, int, bool)              { return 0, 0, true }
func (unlimited) Unused(string)                                             {}

// jobsAgain is when to try again with too many open jobs: the count is that old.
const jobsAgain = time.Second

// limitRequest refuses a request that is one too many of its owner's. Operators are
// never refused, nor are those who read /metrics: they are needed most when too much
// is going on.
func (s *Server) limitRequest(w http.ResponseWriter, r *http.Request, who auth.Identity) error {
	if who.MayOperate() || r.URL.Path == "/metrics" {
		return nil
	}
	wait, rate, burst := s.config.Limits.Request(r.Context(), who.Owner)
	if wait <= 0 {
		return nil
	}
	// draft-ietf-httpapi-ratelimit-headers-10: a quota of burst in the time in which
	// so many come again.
	h := w.Header()
	h.Set("RateLimit-Policy", fmt.Sprintf(`"requests";q=%d;w=%d`, burst, max(1, (burst+rate-1)/rate)))
	h.Set("RateLimit", `"requests";r=0;t=`+seconds(wait))
	p := newProblem(&problemRateLimited, "Owner %s may make %d requests a second, and %d at once.", who.Owner, rate, burst)
	p.retryAfter = wait
	return p
}

// limitJobs refuses an intent that would make one job too many. One whose key is held
// makes none, and is never refused. made must be told whether it made one.
func (s *Server) limitJobs(ctx context.Context, i Intent) (made func(jobs.Submitted, error), err error) {
	if i.Who.MayOperate() {
		return func(jobs.Submitted, error) {}, nil
	}
	open, most, ok := s.config.Limits.Job(ctx, i.Who.Owner)
	if !ok {
		held, err := s.store.KeyHeld(ctx, i.Who.Owner, i.Key)
		switch {
		case err != nil:
			return nil, err
		case held:
			return func(jobs.Submitted, error) {}, nil
		}
		p := newProblem(&problemRateLimited, "Owner %s has %d jobs that have not ended, and may have %d.", i.Who.Owner, open, most).
			hint("Wait until some of them have ended, or cancel some; then send the same request again with the same key.")
		p.retryAfter = jobsAgain
		return nil, p
	}
	return func(submitted jobs.Submitted, err error) {
		if err != nil || !submitted.Created {
			s.config.Limits.Unused(i.Who.Owner)
		}
	}, nil
}
