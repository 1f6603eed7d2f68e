package chaos_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"sync"
	"time"

	"onejob/jobs"
)

// callers is how many there are at once.
const callers = 96

// caller is what one caller does about one key. Two owners use each key.
type caller struct {
	w          *world
	n          int
	story      string
	owner, key string
	path       string // of the job, once it is known
}

func (w *world) caller(n int) *caller {
	owners := []string{ownerDev, ownerOther}
	c := &caller{w: w, n: n, owner: owners[n%2], key: fmt.Sprintf("key-%d", n/2)}
	c.story = c.owner + "." + c.key
	return c
}

// chance is true for that many of a hundred, by the seed.
func (c *caller) chance(percent int, what string) bool {
	f := fnv.New32a()
	_, _ = fmt.Fprintf(f, "%d/%s/%s", c.w.seed, c.story, what)
	return int(f.Sum32()>>8)%100 < percent
}

// submission is the caller's intent; another word makes it another one.
func (c *caller) submission(kind, word string, api int) request {
	route := "print"
	if c.chance(15, "route") {
		route = "stamp"
	}
	return request{
		kind: kind, story: c.story, owner: c.owner, key: c.key, api: api, method: http.MethodPost, path: "/v1/jobs",
		body: fmt.Sprintf(`{"route":%q,"input":{"key":%q,"word":%q}}`, route, c.story, word),
	}
}

// decision is a call about the job.
func (c *caller) decision(kind, path, body string) request {
	return request{kind: kind, story: c.story, owner: c.owner, api: c.n + 1, method: http.MethodPost, path: c.path + path, body: body}
}

// run submits the job, now and then by several clicks at once on both APIs, and then
// does what callers do: ask, wait, click again, change their minds.
func (c *caller) run(ctx context.Context) {
	first := c.click(ctx)
	if first.Job.ID == "" {
		return
	}
	c.path = "/v1/jobs/" + first.Job.ID
	if c.chance(10, "other") {
		c.w.until(ctx, c.submission("other", "b", c.n+1))
	}
	switch {
	case c.chance(3, "cancel"):
		c.w.until(ctx, c.decision("cancel", "/cancel", `{"reason":"chaos"}`))
	case c.chance(3, "cancel-attempt"):
		r := c.decision("cancel-attempt", "/attempts/1/cancel", `{"reason":"chaos","then":"continue"}`)
		if c.chance(50, "version") {
			r.ifMatch = first.Job.Version
		}
		c.w.until(ctx, r)
	case c.chance(6, "doubt"):
		c.doubt(ctx)
	case c.chance(60, "get"):
		c.watch(ctx)
	}
	if c.chance(20, "again") {
		c.w.ask(ctx, c.submission("submit", "a", c.n+1))
	}
}

func (c *caller) click(ctx context.Context) call {
	more := 0
	switch {
	case c.chance(1, "impatient"):
		more = 12
	case c.chance(30, "double"):
		more = 1
	}
	var clicks sync.WaitGroup
	for i := range more {
		clicks.Go(func() { c.w.until(ctx, c.submission("submit", "a", c.n+1+i)) })
	}
	first := c.w.until(ctx, c.submission("submit", "a", c.n))
	clicks.Wait()
	return first
}

func (c *caller) get(wait int) request {
	return request{kind: "get", story: c.story, owner: c.owner, api: c.n, method: http.MethodGet, path: c.path, wait: wait}
}

// watch waits for the end as long as a person does, and tries again where it failed.
func (c *caller) watch(ctx context.Context) {
	wait := 0
	if c.chance(60, "wait") {
		wait = 3
	}
	if seen := c.w.ask(ctx, c.get(wait)); seen.Job.State == jobs.Failed {
		c.w.until(ctx, c.decision("open", "/attempts", `{"reason":"chaos"}`))
	}
}

// doubt cancels the attempt, or the job, when its outcome has become unknown: what
// comes after that is late.
func (c *caller) doubt(ctx context.Context) {
	const most = 2 * time.Second
	for wait := 100 * time.Millisecond; wait < most; wait = wait * 3 / 2 {
		seen := c.w.ask(ctx, c.get(0))
		if seen.Job.State.Ended() {
			return
		}
		if n := len(seen.Job.Attempts); seen.Job.State == jobs.Unknown && n > 0 {
			what := c.decision("cancel", "/cancel", `{"reason":"doubt"}`)
			if c.chance(50, "again") {
				what = c.decision("cancel-attempt", fmt.Sprintf("/attempts/%d/cancel", seen.Job.Attempts[n-1].Number),
					`{"reason":"doubt","then":"continue"}`)
			}
			c.w.until(ctx, what)
			return
		}
		if !rest(ctx, wait) {
			return
		}
	}
}
