package jobs_test

import (
	"fmt"
	"math/rand/v2"

	"pgregory.net/rapid"

	"onejob/jobs"
)

// verbs are drawn as often as they are listed: what leads deeper more often.
var verbs = []string{
	"claim", "claim", "claim", "claim", "beat", "accept", "suspect", "suspect", "finalize", "finalize", "fail", "fail", "fail",
	"open", "open", "race", "race", "race", "race", "race", "resolve", "resolve", "resolve", "cancel", "hold", "submit", "look", "note", "expire_start",
}

// reports are the verbs of whoever has made a call.
var reports = map[string]bool{"beat": true, "accept": true, "suspect": true, "finalize": true, "fail": true}

// plausible is a report as it is, where there can be one; else what leads there.
func plausible(r *record, a *attempt, verb string) string {
	switch {
	case r.state == "failed":
		return "open"
	case a != nil && a.state == "starting":
		return "claim"
	}
	return verb
}

const hour = int64(3_600_000)

// drawCommand makes a command that is mostly plausible: for the latest attempt,
// with its token and fence; and often enough is not.
func drawCommand(t *rapid.T, r *record) command {
	c := command{
		verb: rapid.SampledFrom(verbs).Draw(t, "verb"), op: jobs.NewOp(),
		actor:   rapid.SampledFrom([]string{"worker", "sweeper", "operator:1"}).Draw(t, "actor"),
		attempt: drawAttempt(t, r), reason: rapid.SampledFrom([]string{"busy", "timeout"}).Draw(t, "reason"),
		deadline: hour, lease: hour,
	}
	a := r.at(c.attempt)
	rare := func(what string) bool { return rapid.IntRange(0, 5).Draw(t, what) == 0 }
	if reports[c.verb] && !rare("a report out of nowhere") {
		c.verb = plausible(r, a, c.verb)
	}
	c.token, c.provider = "none", "inkjet"
	if a != nil {
		c.token, c.provider = a.token, a.provider
	}
	if c.verb == "claim" {
		c.token = fmt.Sprint("t", rand.Uint32())
		c.op = c.token
	} else if rare("another token") {
		c.token = rapid.SampledFrom([]string{"other", ""}).Draw(t, "token")
	}
	if rare("another provider") {
		c.provider = rapid.SampledFrom([]string{"inkjet", "laser", ""}).Draw(t, "provider")
	}
	if rare("expects a version") {
		c.expected = r.version + int64(rapid.IntRange(-1, 0).Draw(t, "behind"))
	}
	c.policy = drawPolicy(t)
	switch c.verb {
	case "submit":
		c.fingerprint = rapid.SampledFrom([]string{"v1:a", "v1:b"}).Draw(t, "fingerprint")
		c.sameJob = c.fingerprint == "v1:a" && rapid.Bool().Draw(t, "same id")
	case "accept", "look":
		c.message = rapid.SampledFrom([]string{"h1", "h2"}).Draw(t, "message")
	case "suspect":
		c.raceIn = int64(rapid.SampledFrom([]int{0, 10000}).Draw(t, "race in"))
		if c.token == "" {
			c.reason = ""
		}
		c.lookupIn = int64(rapid.SampledFrom([]int{0, 60000}).Draw(t, "look-up in"))
	case "finalize", "fail":
		c.result = fmt.Sprintf(`{"by":%d}`, rapid.IntRange(1, 2).Draw(t, "result"))
		c.message = "no"
		c.retryable = !rare("permanent")
		c.retryAfter = int64(rapid.SampledFrom([]int{0, 0, 250}).Draw(t, "retry after"))
		if a != nil && !rare("fence of its own") {
			c.fence = a.fence
		}
		if rare("wrong fence") {
			c.fence = r.version - 1
		}
	case "resolve":
		c.outcome = rapid.SampledFrom([]string{"succeeded", "failed", "cancelled"}).Draw(t, "outcome")
		c.result = `{"by":"a person"}`
		c.then = rapid.SampledFrom([]string{"", "continue"}).Draw(t, "then")
	case "open":
		c.margin = rapid.SampledFrom([]int64{0, 0, hour, 101 * hour}).Draw(t, "margin")
	case "note":
		c.message = "cancel_asked"
	}
	return c
}

func drawAttempt(t *rapid.T, r *record) int {
	last := len(r.attempts)
	if rapid.IntRange(0, 4).Draw(t, "which") > 0 {
		return last
	}
	return rapid.IntRange(1, last+1).Draw(t, "attempt")
}

func drawPolicy(t *rapid.T) modelPolicy {
	p := modelPolicy{
		MaxAttempts: rapid.IntRange(1, 6).Draw(t, "max attempts"), Tries: rapid.IntRange(1, 2).Draw(t, "tries"),
		Initial: int64(rapid.SampledFrom([]int{0, 100}).Draw(t, "back-off")), Max: 150,
		Failover:  rapid.SampledFrom([]string{"certified", "untested"}).Draw(t, "failover"),
		Providers: []jobs.PolicyProvider{{Name: "inkjet"}, {Name: "laser"}},
	}
	if rapid.Bool().Draw(t, "laser is certified") {
		p.Providers[1].Certificate = "c1"
	}
	return p
}
