package recovery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// played is one run of every verb on one set of jobs.
type played struct {
	t     *testing.T
	ctx   context.Context
	store *jobs.Store
	lose  func(verb string)
	saw   map[string]any // what each verb answered
}

// do plays one verb, whose reply may be lost, and keeps its answer.
func (p *played) do(name string, verb func() (any, error)) any {
	p.t.Helper()
	p.lose(name)
	answer, err := verb()
	require.NoError(p.t, err, name)
	p.saw[name] = answer
	return answer
}

func (p *played) submit(name, key string, startWithin time.Duration) string {
	p.t.Helper()
	s, ok := p.do(name, func() (any, error) {
		return p.store.Submit(p.ctx, jobs.Submission{
			Owner: "dev", Key: key, Fingerprint: "v1:x", Route: "print", Provider: "press", Input: json.RawMessage(`{}`), StartWithin: startWithin,
		})
	}).(jobs.Submitted)
	require.True(p.t, ok)
	require.True(p.t, s.Created, "%s: it is its own", name)
	return s.Job.ID
}

func (p *played) claim(name, id string, n int, provider string) *jobs.Claim {
	p.t.Helper()
	claim, _ := p.do(name, func() (any, error) {
		return p.store.Claim(p.ctx, jobs.ClaimRequest{JobID: id, Attempt: n, Token: jobs.NewOp(), Provider: provider, Deadline: time.Minute})
	}).(*jobs.Claim)
	return claim
}

var retrying = &jobs.Policy{
	MaxAttempts: 5, Tries: 5, Failover: "untested", Providers: []jobs.PolicyProvider{{Name: "press"}, {Name: "press2"}},
}

// all plays every verb that changes something, in an order that makes each count.
func (p *played) all() {
	id := p.submit("submit", "one", 0)
	p.do("hold", func() (any, error) { return nil, p.store.Hold(p.ctx, id, 1, "held") })
	c := p.claim("claim", id, 1, "press")
	p.do("beat", func() (any, error) { return p.store.Beat(p.ctx, c, time.Millisecond) })
	p.do("accept", func() (any, error) { return nil, p.store.Accept(p.ctx, c, "handle", "worker") })
	p.do("fail", func() (any, error) {
		return p.store.Fail(p.ctx, ending(c), jobs.Failure{Reason: "busy", Retryable: true, Policy: retrying})
	})
	c = p.claim("claim 2", id, 2, "press")
	p.do("suspect", func() (any, error) {
		return p.store.Suspect(p.ctx, jobs.Suspicion{JobID: id, Attempt: 2, Token: c.Token, Reason: "timeout"})
	})
	p.do("look", func() (any, error) { return nil, p.store.Look(p.ctx, id, 2, "running") })
	p.do("note", func() (any, error) { return nil, p.store.Note(p.ctx, id, 2, "cancel_asked", "asked") })
	p.do("race", func() (any, error) {
		wakes, why, err := p.store.Race(p.ctx, id, 2, retrying)
		return []any{len(wakes), why}, err
	})
	raced := p.claim("claim 3", id, 3, "press2")
	p.do("resolve cancelled", func() (any, error) { return p.decide(id, 2, "cancelled", "") })
	p.do("finalize", func() (any, error) { return p.store.Finalize(p.ctx, ending(raced), json.RawMessage(`"won"`), nil) })
	p.do("finalize, late", func() (any, error) { return p.store.Finalize(p.ctx, ending(c), json.RawMessage(`"late"`), nil) })

	id = p.submit("submit 2", "two", 0)
	c = p.claim("claim 4", id, 1, "press")
	_, err := p.store.Suspect(p.ctx, jobs.Suspicion{JobID: id, Attempt: 1, Token: c.Token, Reason: "timeout"})
	require.NoError(p.t, err)
	p.do("resolve failed", func() (any, error) { return p.decide(id, 1, "failed", "continue") })
	p.do("cancel attempt", func() (any, error) { return p.decide(id, 2, "cancelled", "") })
	p.do("open", func() (any, error) { return p.store.Open(p.ctx, jobs.OpenRequest{Decision: jobs.Decision{JobID: id}}) })
	p.do("cancel job", func() (any, error) { return p.store.CancelJob(p.ctx, jobs.Decision{JobID: id}) })

	id = p.submit("submit 3", "three", 0)
	c = p.claim("claim 5", id, 1, "press")
	_, err = p.store.Suspect(p.ctx, jobs.Suspicion{JobID: id, Attempt: 1, Token: c.Token, Reason: "timeout"})
	require.NoError(p.t, err)
	p.do("resolve succeeded", func() (any, error) {
		return p.store.Resolve(p.ctx, jobs.Resolution{Decision: jobs.Decision{JobID: id, Attempt: 1}, Outcome: "succeeded", Result: json.RawMessage(`1`)})
	})

	id = p.submit("submit 4", "four", time.Millisecond)
	within(p.t, 10*time.Second, "its time to start has passed", func() bool {
		job, err := p.store.Get(p.ctx, id)
		return err == nil && time.Now().After(job.StartBy.Go().Add(10*time.Millisecond))
	})
	p.do("expire_start", func() (any, error) { return nil, p.store.ExpireStart(p.ctx, id, 1) })
}

func (p *played) decide(id string, n int, outcome, then string) (any, error) {
	return p.store.Resolve(p.ctx, jobs.Resolution{
		Decision: jobs.Decision{JobID: id, Attempt: n, Reason: "r"}, Outcome: outcome, Then: then, Policy: retrying,
	})
}

func ending(c *jobs.Claim) jobs.Ending {
	return jobs.Ending{JobID: c.JobID, Attempt: c.Attempt, Fence: c.Fence, Effect: "done"}
}

// Whatever differs between two runs by their nature: ids, tokens, times.
var (
	ids   = regexp.MustCompile(`job_[0-9A-Z]{28}`)
	times = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`)
	fresh = regexp.MustCompile(`"Token":"[^"]*"|"In":\d+|"Waited":\d+`)
)

// plain is an answer without them.
func plain(t *testing.T, answer any) string {
	t.Helper()
	raw, err := json.Marshal(answer)
	require.NoError(t, err)
	text := ids.ReplaceAllString(string(raw), "job")
	return fresh.ReplaceAllString(times.ReplaceAllString(text, `"then"`), `"-"`)
}

// records are all records and trails there are, in the order of keys.
func (p *played) records() []string {
	p.t.Helper()
	var all []string
	page, err := p.store.List(p.ctx, jobs.Query{Owner: "dev", Limit: 100})
	require.NoError(p.t, err)
	for _, job := range page.Jobs {
		events, err := p.store.Events(p.ctx, job.ID, "", 100)
		require.NoError(p.t, err)
		trail := ""
		for _, e := range events {
			trail += fmt.Sprintf(" %s/%d/%s/%s", e.Verb, e.Attempt, e.From, e.To)
		}
		all = append(all, plain(p.t, job)+fmt.Sprint(" revision ", job.Revision)+trail)
		problems, err := p.store.Mend(p.ctx, job.ID, false)
		require.NoError(p.t, err)
		require.Empty(p.t, problems)
	}
	return all
}

// play plays all verbs, losing the reply of one of them; of none when it is empty.
func play(t *testing.T, unlucky string) *played {
	t.Helper()
	addr, db := database(t)
	armed := make(chan struct{}, 1)
	p := newProxy(t, addr, 1, func(request, _ []byte) bool {
		if !has(request, "fcall", "oj:{") {
			return false
		}
		select {
		case <-armed:
			return true
		default:
			return false
		}
	})
	rdb := redis.NewClient(&redis.Options{Addr: p.addr(), DB: db})
	store := jobs.NewStore(rdb, jobs.Options{})
	t.Cleanup(func() { _, _ = store.Close(), rdb.Close() })
	_, err := store.CancelJob(t.Context(), jobs.Decision{JobID: jobs.NewID("nobody", "none"), Actor: "test"})
	require.ErrorContains(t, err, "not_found") // from here on the server has the functions
	all := &played{t: t, ctx: t.Context(), store: store, saw: map[string]any{}, lose: func(verb string) {
		if verb == unlucky {
			armed <- struct{}{}
		}
	}}
	all.all()
	if unlucky != "" {
		require.EqualValues(t, 1, p.lost.Load(), "no reply was lost")
	}
	return all
}

// TestVerbs_ReplyLost loses the reply of each verb in turn. The client library
// sends the command again; every answer and every record is what it is when
// nothing is lost.
func TestVerbs_ReplyLost(t *testing.T) {
	needs(t)
	lucky := play(t, "")
	want := lucky.records()
	require.Len(t, want, 4)
	for verb := range lucky.saw {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			got := play(t, verb)
			for name, answer := range lucky.saw {
				require.Equal(t, plain(t, answer), plain(t, got.saw[name]), name)
			}
			require.Equal(t, want, got.records())
		})
	}
}
