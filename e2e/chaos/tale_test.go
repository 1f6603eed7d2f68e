package chaos_test

import (
	"encoding/json"
	"fmt"
	"time"

	"onejob/jobs"
)

// tale makes sound stories for the tests of the checker: what is written into it one
// after the other happened so, and every answer is what the record was then.
type tale struct{ *story }

const (
	taleJob   = "job_1"
	taleKey   = "dev.key-1"
	taleInput = `{"key":"dev.key-1","word":"a"}`
	worker    = "worker:1"
)

func begun() tale { return tale{&story{Job: jobs.Job{ID: taleJob}}} }

// ms is a moment of the tale.
func ms(n int) time.Time { return time.UnixMilli(1_800_000_000_000 + int64(n)) }

func (t tale) line(at int, actor, verb string, n int, from, to, reason string) {
	t.Trail = append(t.Trail, jobs.Event{
		ID: fmt.Sprint(len(t.Trail) + 1), At: jobs.Time(ms(at).UnixMilli()), Actor: actor, Verb: verb, Attempt: n,
		From: from, To: to, Reason: reason,
	})
}

func (t tale) claim(at, n int) { t.line(at, worker, "claim", n, "starting", "running", "") }

// create is a line of the ledger; result is empty where there was no effect.
func (t tale) create(at, n int, mode, result string) {
	t.Ledger = append(t.Ledger, entry{
		Seq: len(t.Ledger) + 1, At: ms(at), Kind: "create", Key: taleKey, Attempt: jobs.AttemptID(taleJob, n), Mode: mode, Result: result,
	})
}

// call is one that was answered; of the job as it is now.
func (t tale) call(kind, path, body string, from, to, status int) *call {
	c := call{Key: taleKey, Owner: ownerDev, Kind: kind, Path: path, Body: body, Start: ms(from), End: ms(to), Status: status}
	if path == "/v1/jobs" {
		c.IdemKey = "key-1"
	}
	if c.ok() {
		c.Job = t.now()
	}
	t.Calls = append(t.Calls, c)
	return &t.Calls[len(t.Calls)-1]
}

func (t tale) submit(from, to, status int) *call {
	return t.call("submit", "/v1/jobs", `{"route":"print","input":`+taleInput+`}`, from, to, status)
}

func (t tale) get(from, to int) *call { return t.call("get", "/v1/jobs/"+taleJob, "", from, to, 200) }

func (t tale) refused(c *call, name string) {
	c.Problem = problem{Name: name, Job: taleJob}
}

// now is what an answer tells of the job.
func (t tale) now() told {
	var r record
	all := scripts(t.Trail)
	for _, s := range all {
		r, _ = r.after(s)
	}
	result := ""
	if r.Winner > 0 {
		result = t.effect(r.Winner)
	}
	return told{
		ID: taleJob, Key: "key-1", Input: taleInput, State: r.State, Version: r.Version, Revision: int64(len(all)),
		CompletedBy: r.Winner, Result: result, Attempts: r.Attempts,
	}
}

// over ends the tale: the job as it is now, and somebody who looks.
func (t tale) over(at int) *story {
	now := t.now()
	t.Job.ID, t.Job.IdempotencyKey, t.Job.Input = now.ID, now.Key, json.RawMessage(now.Input)
	t.Job.State, t.Job.Version, t.Job.CompletedBy = now.State, now.Version, now.CompletedBy
	t.Job.Result = json.RawMessage(now.Result)
	t.Job.Attempts = nil
	for _, a := range now.Attempts {
		t.Job.Attempts = append(t.Job.Attempts, jobs.Attempt{Number: a.Number, State: a.State, Fence: a.Fence, Reason: reasons[a.State]})
	}
	t.Listed = []string{taleJob}
	t.get(at, at+5)
	return t.story
}

var reasons = map[jobs.AttemptState]string{jobs.AttemptFailed: "busy", jobs.AttemptCancelled: "job_cancelled"}

// submitted begins a tale with a job that was made and acknowledged.
func submitted() tale {
	t := begun()
	t.line(2, ownerDev, "submit", 1, "", "starting", "")
	t.submit(0, 5, 202)
	return t
}

// printed is a job that two impatient clicks made, that failed once for sure, whose
// second call got lost, and whose result a look-up found.
func printed() *story {
	t := submitted()
	t.submit(1, 8, 202).Replayed = true
	t.claim(10, 1)
	t.create(12, 1, "busy", "")
	t.line(15, worker, "fail", 1, "running", "failed", "busy")
	t.line(15, worker, "open", 2, "", "starting", "retry")
	t.get(20, 25)
	t.refused(t.call("other", "/v1/jobs", `{"route":"print","input":{"key":"dev.key-1","word":"b"}}`, 30, 35, 409), "idempotency-key-reused")
	t.claim(120, 2)
	t.create(125, 2, "lost", "sheet-2")
	t.get(130, 140)
	t.line(150, worker, "suspect", 2, "running", "unknown", "connection_lost")
	t.get(160, 170)
	t.line(250, "reconciler", "finalize", 2, "unknown", "succeeded", "")
	t.submit(300, 310, 200).Replayed = true
	t.refused(t.call("cancel", "/v1/jobs/"+taleJob+"/cancel", `{}`, 320, 330, 409), "job-final")
	return t.over(1000)
}

// cancelled is a job whose call was under way when its caller changed his mind.
func cancelled() *story {
	t := submitted()
	t.claim(10, 1)
	t.create(12, 1, "ok", "sheet-1")
	t.line(20, ownerDev, "cancel", 0, "running", "cancelled", "chaos")
	t.line(20, ownerDev, "close", 1, "running", "cancelled", "job_cancelled")
	t.call("cancel", "/v1/jobs/"+taleJob+"/cancel", `{}`, 15, 25, 200)
	t.line(30, worker, "late_result_discarded", 1, "cancelled", "cancelled", "attempt_cancelled sha256:"+digest(resultJSON("sheet-1")))
	s := t.over(1000)
	s.Job.Attempts[0].LateResult = &jobs.LateResult{SHA256: digest(resultJSON("sheet-1")), Bytes: int64(len(resultJSON("sheet-1")))}
	return s
}

// resolved is a job that an operator settled twice: nothing had been printed, then it had.
func resolved() *story {
	t := submitted()
	t.claim(10, 1)
	t.line(3000, "sweeper", "suspect", 1, "running", "unknown", "worker_lost")
	t.get(3010, 3020)
	resolve := func(n, from int, body string, status int) *call {
		return t.call("resolve", fmt.Sprintf("/v1/jobs/%s/attempts/%d/resolve", taleJob, n), body, from, from+10, status)
	}
	stale := resolve(1, 7000, `{"outcome":"failed","then":"continue"}`, 412)
	stale.IfMatch, stale.Problem = 7, problem{Name: "version-mismatch", Job: taleJob, Version: 1}
	t.line(8005, operator, "resolve", 1, "unknown", "failed", "not in the ledger")
	t.line(8005, operator, "open", 2, "", "starting", "retry")
	resolve(1, 8000, `{"outcome":"failed","then":"continue"}`, 200).IfMatch = 1
	t.refused(resolve(1, 8020, `{"outcome":"failed","then":"continue"}`, 409), "attempt-settled")
	t.claim(8100, 2)
	t.create(8110, 2, "hang", "sheet-1")
	t.refused(resolve(2, 8200, `{"outcome":"failed","then":"continue"}`, 409), "attempt-not-unknown")
	t.line(8600, worker, "suspect", 2, "running", "unknown", "timeout")
	t.line(14005, operator, "resolve", 2, "unknown", "succeeded", "in the ledger")
	resolve(2, 14000, `{"outcome":"succeeded","result":`+resultJSON("sheet-1")+`}`, 200)
	return t.over(15000)
}

// reopened is a job that failed and was opened again, by a call that nobody answered.
func reopened() *story {
	t := submitted()
	t.claim(10, 1)
	t.create(12, 1, "reject", "")
	t.line(15, worker, "fail", 1, "running", "failed", "busy")
	t.get(20, 25)
	path := "/v1/jobs/" + taleJob + "/attempts"
	t.call("open", path, `{}`, 30, 35, 0)
	t.line(50, ownerDev, "open", 2, "", "starting", "chaos")
	t.refused(t.call("open", path, `{}`, 60, 70, 409), "attempt-unresolved")
	t.claim(80, 2)
	t.create(90, 2, "ok", "sheet-2")
	t.line(100, worker, "finalize", 2, "running", "succeeded", "")
	return t.over(1000)
}

// raced is what a route that does not race must never do: two attempts at once, and
// both win.
func raced() *story {
	t := submitted()
	t.claim(10, 1)
	t.create(12, 1, "lost", "sheet-1")
	t.line(100, worker, "suspect", 1, "running", "unknown", "connection_lost")
	t.line(110, ownerDev, "open", 2, "", "starting", "")
	t.claim(120, 2)
	t.line(200, "reconciler", "finalize", 1, "unknown", "succeeded", "")
	t.line(210, worker, "finalize", 2, "running", "succeeded", "")
	s := t.over(1000)
	s.Calls, s.Job.CompletedBy, s.Job.Result = s.Calls[:1], 1, json.RawMessage(resultJSON("sheet-1"))
	return s
}

// unclaimed is a job that was cancelled before anybody could claim it, and was printed.
func unclaimed() *story {
	t := submitted()
	t.line(20, ownerDev, "cancel", 0, "queued", "cancelled", "chaos")
	t.line(20, ownerDev, "close", 1, "starting", "cancelled", "job_cancelled")
	t.create(30, 1, "ok", "sheet-1")
	return t.over(1000)
}

// givenUp is a job whose one attempt was cancelled, which did not go on.
func givenUp() *story {
	t := submitted()
	t.line(20, ownerDev, "resolve", 1, "starting", "cancelled", "chaos")
	t.call("cancel-attempt", "/v1/jobs/"+taleJob+"/attempts/1/cancel", `{}`, 15, 25, 200)
	return t.over(1000)
}

// rejected is a job that failed for good.
func rejected() *story {
	t := submitted()
	t.claim(10, 1)
	t.create(12, 1, "reject", "")
	t.line(15, worker, "fail", 1, "running", "failed", "rejected")
	return t.over(1000)
}

// shutOut is a job whose first attempt came back to a version that had moved on.
func shutOut() *story {
	t := submitted()
	t.claim(10, 1)
	t.create(12, 1, "busy", "")
	sha := digest("busy")
	t.line(15, worker, "late_result_discarded", 1, "running", "discarded", "version_moved sha256:"+sha)
	t.line(30, ownerDev, "open", 2, "", "starting", "chaos")
	t.call("open", "/v1/jobs/"+taleJob+"/attempts", `{}`, 25, 35, 201)
	t.claim(40, 2)
	t.create(45, 2, "ok", "sheet-2")
	t.line(60, worker, "finalize", 2, "running", "succeeded", "")
	s := t.over(1000)
	s.Job.Attempts[0].LateResult = &jobs.LateResult{SHA256: sha, Bytes: 4}
	return s
}
