package recovery_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/auth"
	"onejob/jobs"
	"onejob/jobs/recordtest"
)

// keysOf are the two keys of a job: its record and its idempotency key.
func (w *world) keysOf(id string) []string {
	w.t.Helper()
	found, err := w.rdb.Keys(w.ctx, "oj:{*}:job:"+id).Result()
	require.NoError(w.t, err)
	require.Len(w.t, found, 1)
	prefix := strings.TrimSuffix(found[0], "job:"+id)
	hash, err := recordtest.Get(w.ctx, w.rdb, found[0], "key_hash")
	require.NoError(w.t, err)
	return []string{found[0], prefix + "key:" + hash}
}

// expiries are the moments at which the keys of a job go, -1 where they stay.
func (w *world) expiries(id string) []time.Duration {
	w.t.Helper()
	var all []time.Duration
	for _, key := range w.keysOf(id) {
		at, err := w.rdb.PExpireTime(w.ctx, key).Result()
		require.NoError(w.t, err)
		all = append(all, at)
	}
	return all
}

var stays = []time.Duration{-1, -1}

// An ended job's record goes first, then its key; what is left is as before.
func TestRetention_EverythingGoes(t *testing.T) {
	needs(t)
	s := newServer(t)
	w := newWorldAt(t, setting{retention: "3s, 9s"}, s.addr(), 0)
	w.startAPI()
	w.startWorker()
	id := w.submit("key", `{"press":"ok"}`)
	for i := range 20 {
		w.submit(fmt.Sprint("more-", i), `{"press":"ok"}`)
	}
	for _, other := range w.jobs {
		w.await(other, "ended", 60*time.Second, func(j *jobs.Job) bool { return j.State == jobs.Succeeded })
	}
	within(t, 30*time.Second, "the record goes", func() bool { _, err := w.store.Get(w.ctx, id); return err != nil })
	status, raw, err := w.call("GET", "http://"+w.api+"/v1/jobs/"+id, auth.DevKey, "", "")
	require.NoError(t, err)
	require.Equal(t, 404, status, "%s", raw)
	status, raw, err = w.post("key", `{"press":"ok"}`)
	require.NoError(t, err)
	require.Equal(t, 410, status, "%s", raw)
	require.Contains(t, string(raw), id)
	status, _, err = w.post("key", `{"press":"other"}`)
	require.NoError(t, err)
	require.Equal(t, 409, status)

	within(t, 60*time.Second, "all is as before", func() bool { return len(w.left()) == 0 })
	w.jobs = map[string]string{}
	onceEach(t, w.creates())
	w.fsckClean()
	require.NotEqual(t, id, w.submit("key", `{"press":"ok"}`), "the key is free again")
}

var counters = regexp.MustCompile(`^(oj:\{\d+\}:(seq|epoch|base)|oj:sweep|oj:probe|oj:process.*|asynq:.*)$`)

// left are the keys there are besides those that do not grow, and asynq's, but
// for its tasks.
func (w *world) left() []string {
	w.t.Helper()
	all, err := w.rdb.Keys(w.ctx, "*").Result()
	require.NoError(w.t, err)
	var left []string
	for _, key := range all {
		if !counters.MatchString(key) {
			left = append(left, key)
		}
	}
	tasks, err := w.rdb.Keys(w.ctx, "asynq:{press}:t:*").Result()
	require.NoError(w.t, err)
	return append(left, tasks...)
}

// No key of a job that has not ended carries a time to live, in any state.
func TestRetention_OpenJobsStay(t *testing.T) {
	needs(t)
	w := newWorld(t, setting{retention: "1h, 2h"})
	w.startAPI()
	w.startWorker()
	w.awaitWorkers()
	require.NoError(t, w.inspector.PauseQueue(queue))
	id := w.submit("key", `{"press":["later:900ms","hang","refuse","ok"]}`)
	require.Equal(t, stays, w.expiries(id), "queued")
	require.NoError(t, w.inspector.UnpauseQueue(queue))
	w.awaitState(id, jobs.Succeeded)
	require.NotContains(t, w.expiries(id), time.Duration(-1), "succeeded")

	id = w.submit("silent", `{"press":["hang","refuse","ok"]}`)
	w.awaitState(id, jobs.Running)
	require.Equal(t, stays, w.expiries(id), "running")
	w.awaitState(id, jobs.Unknown)
	require.Equal(t, stays, w.expiries(id), "unknown")
	w.ask(id, "/attempts/1/resolve", `{"outcome":"failed","reason":"asked the vendor"}`)
	require.NotContains(t, w.expiries(id), time.Duration(-1), "failed")
	require.NoError(t, w.inspector.PauseQueue(queue))
	w.ask(id, "/attempts", `{"reason":"once more"}`)
	require.Equal(t, stays, w.expiries(id), "reopened")
	require.NoError(t, w.inspector.UnpauseQueue(queue))
	w.awaitState(id, jobs.Failed)
	w.settled()
}

// No verb shortens or drops the times to live of an ended job.
func TestRetention_VerbsLeaveItAlone(t *testing.T) {
	needs(t)
	w := newWorld(t, setting{})
	ctx := w.ctx
	s, err := w.store.Submit(ctx, jobs.Submission{
		Owner: "dev", Key: "k", Fingerprint: "v1:x", Route: "print", Provider: "press", Input: json.RawMessage(`{}`),
	})
	require.NoError(t, err)
	id := s.Job.ID
	c, err := w.store.Claim(ctx, jobs.ClaimRequest{JobID: id, Attempt: 1, Token: "t", Provider: "press", Deadline: time.Minute})
	require.NoError(t, err)
	ending := jobs.Ending{JobID: id, Attempt: 1, Fence: c.Fence}
	_, err = w.store.Finalize(ctx, ending, json.RawMessage(`1`), nil)
	require.NoError(t, err)
	before := w.expiries(id)

	// A store with other retention writes the same record, as after a deploy.
	other := jobs.NewStore(w.rdb, jobs.Options{KeepJob: time.Second, KeepKey: time.Second})
	defer func() { require.NoError(t, other.Close()) }()
	decision := jobs.Decision{JobID: id, Attempt: 1, Reason: "r"}
	for name, verb := range map[string]func() error{
		"submit": func() error {
			_, err := other.Submit(ctx, jobs.Submission{Owner: "dev", Key: "k", Fingerprint: "v1:x", Route: "print", Provider: "press", Input: json.RawMessage(`{}`)})
			return err
		},
		"claim": func() error {
			_, err := other.Claim(ctx, jobs.ClaimRequest{JobID: id, Attempt: 1, Token: "u", Provider: "press", Deadline: time.Minute})
			return err
		},
		"beat":     func() error { _, err := other.Beat(ctx, c, 0); return err },
		"accept":   func() error { return other.Accept(ctx, c, "handle", "worker") },
		"suspect":  func() error { _, err := other.Suspect(ctx, jobs.Suspicion{JobID: id, Attempt: 1}); return err },
		"finalize": func() error { _, err := other.Finalize(ctx, ending, json.RawMessage(`2`), nil); return err },
		"fail": func() error {
			_, err := other.Fail(ctx, ending, jobs.Failure{Reason: "no", Policy: &jobs.Policy{}})
			return err
		},
		"open": func() error { _, err := other.Open(ctx, jobs.OpenRequest{Decision: decision}); return err },
		"resolve": func() error {
			_, err := other.Resolve(ctx, jobs.Resolution{Decision: decision, Outcome: "cancelled"})
			return err
		},
		"cancel":       func() error { _, err := other.CancelJob(ctx, decision); return err },
		"look":         func() error { return other.Look(ctx, id, 1, "running") },
		"note":         func() error { return other.Note(ctx, id, 1, "note", "r") },
		"hold":         func() error { return other.Hold(ctx, id, 1, "r") },
		"expire_start": func() error { return other.ExpireStart(ctx, id, 1) },
		"race":         func() error { _, _, err := other.Race(ctx, id, 1, &jobs.Policy{}); return err },
		"unindex":      func() error { return other.Unindex(ctx, jobs.Due{Kind: jobs.DueExpire, JobID: id, Last: "x"}) },
		"mend":         func() error { _, err := other.Mend(ctx, id, true); return err },
	} {
		_ = verb() // refused or not
		require.Equal(t, before, w.expiries(id), name)
	}
}
