package dashboard_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/dashboard"
	"onejob/dashboard/payload"
	"onejob/jobs"
)

// desk is a site with jobs on it, and somebody signed in.
type desk struct {
	*browser
	wakes *wakes
}

// wakes remembers what was woken.
type wakes struct {
	mu   sync.Mutex
	list []jobs.Wake
}

func (w *wakes) Wake(_ context.Context, wake jobs.Wake) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, wake)
}

func (w *wakes) all() []jobs.Wake {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]jobs.Wake(nil), w.list...)
}

// deskOf is a site whose routes are print (inkjet, laser), which changes the world,
// and draft (inkjet), which does not; a result of print must have ok.
func deskOf(t *testing.T, change ...func(*dashboard.Config)) *desk {
	t.Helper()
	d := &desk{wakes: &wakes{}}
	s := open(t, append([]func(*dashboard.Config){func(c *dashboard.Config) {
		c.Jobs.Waker = d.wakes
		c.Jobs.Routes = map[string]dashboard.JobRoute{
			"print": {Providers: []string{"inkjet", "laser"}}, "draft": {Providers: []string{"inkjet"}, Harmless: true},
		}
		c.Jobs.PolicyFor = jobs.PolicyByRoute(func(route string) *jobs.Policy {
			if route != "print" {
				return nil
			}
			return plan(4)
		})
		c.Jobs.CheckResult = func(_ string, result json.RawMessage) error {
			if !strings.Contains(string(result), "ok") {
				return errors.New("ok is missing")
			}
			return nil
		}
	}}, change...)...)
	d.browser = s.signedIn(s.operator)
	return d
}

// as is the same site seen by somebody else.
func (d *desk) as(key string) *desk { return &desk{browser: d.signedIn(key), wakes: d.wakes} }

func plan(n int) *jobs.Policy {
	return &jobs.Policy{
		MaxAttempts: n, Tries: 1, Failover: "untested",
		Providers: []jobs.PolicyProvider{{Name: "inkjet"}, {Name: "laser"}},
	}
}

func redacting(t *testing.T, paths ...string) func(*dashboard.Config) {
	t.Helper()
	r, err := payload.NewRedactor(paths)
	require.NoError(t, err)
	return func(c *dashboard.Config) { c.Jobs.Redact = r }
}

// submit makes a queued job; change may alter what is submitted.
func (d *desk) submitted(key string, change ...func(*jobs.Submission)) *jobs.Job {
	d.t.Helper()
	s := jobs.Submission{Owner: "acme", Key: key, Fingerprint: "v1:" + key, Route: "print", Provider: "inkjet", Input: json.RawMessage(`{"page":1}`)}
	for _, c := range change {
		c(&s)
	}
	made, err := d.store.Submit(d.t.Context(), s)
	require.NoError(d.t, err)
	return made.Job
}

func onRoute(route string) func(*jobs.Submission) {
	return func(s *jobs.Submission) { s.Route = route }
}

func (d *desk) job(id string) *jobs.Job {
	d.t.Helper()
	job, err := d.store.Get(d.t.Context(), id)
	require.NoError(d.t, err)
	return job
}

// claimed has a worker take attempt n.
func (d *desk) claimed(id string, n int) *jobs.Claim {
	d.t.Helper()
	c, err := d.store.Claim(d.t.Context(), jobs.ClaimRequest{
		JobID: id, Attempt: n, Token: jobs.NewOp(), Provider: d.job(id).Attempt(n).Provider, Deadline: time.Minute, Actor: "worker-1",
	})
	require.NoError(d.t, err)
	return c
}

const seen = `{"sent_at":"2026-03-04T12:00:00.100Z","bytes_written":412,"bytes_read":0,"complete":false,"error":"i/o timeout"}`

// suspected makes a claimed attempt unknown. With timeout it is listened to, with
// anything else it is not; lookup is when it is looked up, 0: never.
func (d *desk) suspected(c *jobs.Claim, reason string, lookup time.Duration) {
	d.t.Helper()
	ok, err := d.store.Suspect(d.t.Context(), jobs.Suspicion{
		JobID: c.JobID, Attempt: c.Attempt, Token: c.Token, Reason: reason, Actor: "worker-1", Effect: "unknown",
		SentAgo: time.Second, Evidence: json.RawMessage(seen), Reminders: jobs.Reminders{Lookup: lookup},
	})
	require.NoError(d.t, err)
	require.True(d.t, ok)
}

// unknown makes an unknown job that nobody listens to.
func (d *desk) unknown(key string, change ...func(*jobs.Submission)) (*jobs.Job, *jobs.Claim) {
	d.t.Helper()
	job := d.submitted(key, change...)
	c := d.claimed(job.ID, 1)
	d.suspected(c, "connection_lost", 0)
	return d.job(job.ID), c
}

func (d *desk) failed(key string, change ...func(*jobs.Submission)) *jobs.Job {
	d.t.Helper()
	job := d.submitted(key, change...)
	c := d.claimed(job.ID, 1)
	_, err := d.store.Fail(d.t.Context(), ending(c, "none"), jobs.Failure{Reason: "rejected", Message: "no paper", Policy: &jobs.Policy{}})
	require.NoError(d.t, err)
	return d.job(job.ID)
}

func (d *desk) finalized(c *jobs.Claim, result string) jobs.Reported {
	d.t.Helper()
	r, err := d.store.Finalize(d.t.Context(), ending(c, "done"), json.RawMessage(result), nil)
	require.NoError(d.t, err)
	return r
}

func ending(c *jobs.Claim, effect string) jobs.Ending {
	return jobs.Ending{JobID: c.JobID, Attempt: c.Attempt, Fence: c.Fence, Effect: effect, Actor: "worker-1", SentAgo: time.Second, Evidence: json.RawMessage(seen)}
}

// shown is a page that must be there.
func (d *desk) shown(path string) string {
	d.t.Helper()
	answer := d.get(path)
	require.Equal(d.t, http.StatusOK, answer.status, answer.body)
	return answer.body
}

// form is the form of a decision, as a browser would send it back.
func (d *desk) form(job, action string, attempt int, fields ...string) url.Values {
	d.t.Helper()
	query := url.Values{"action": {action}}
	if attempt > 0 {
		query.Set("attempt", strconv.Itoa(attempt))
	}
	body := d.shown("/dashboard/jobs/" + job + "/decide?" + query.Encode())
	form := query
	for _, name := range []string{"csrf", "version", "seen", "op"} {
		form.Set(name, hidden(d.t, body, name))
	}
	form.Set("reason", "asked the printer")
	form.Set("step", "confirm")
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return form
}

func (d *desk) decide(job string, form url.Values) reply {
	d.t.Helper()
	return d.post("/dashboard/jobs/"+job+"/decide", form)
}

// verbs are the lines of a job's trail, as "verb actor".
func (d *desk) verbs(id string) []string {
	d.t.Helper()
	trail, err := d.store.Events(d.t.Context(), id, "", 1000)
	require.NoError(d.t, err)
	var verbs []string
	for _, e := range trail {
		verbs = append(verbs, e.Verb+" "+e.Actor)
	}
	return verbs
}
