package timeline_test

import (
	"encoding/json"
	"fmt"
	"time"

	"onejob/jobs"
)

// born is when every job of these tests was created.
var born = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func at(after time.Duration) jobs.Time { return jobs.Time(born.Add(after).UnixMilli()) }

const (
	ms  = time.Millisecond
	sec = time.Second
)

// life is a job and its trail, and when it is looked at.
type life struct {
	job    jobs.Job
	events []jobs.Event
	now    time.Duration
}

func (l *life) event(after time.Duration, actor, verb string, attempt int, from, to, reason string) {
	l.events = append(l.events, jobs.Event{
		ID: fmt.Sprintf("%d-%d", at(after), len(l.events)), At: at(after), Actor: actor, Verb: verb,
		Attempt: attempt, From: from, To: to, Reason: reason,
	})
	l.job.UpdatedAt = max(l.job.UpdatedAt, at(after))
}

// begin makes a queued job.
func begin() *life {
	l := &life{job: jobs.Job{ID: "job_01TEST", State: jobs.Queued, CreatedAt: at(0), Version: 1}}
	l.event(0, "acme", "submit", 1, "", "starting", "")
	l.attempt(1, "inkjet", 0)
	return l
}

func (l *life) attempt(n int, provider string, created time.Duration) {
	l.job.Attempts = append(l.job.Attempts, jobs.Attempt{
		Number: n, Provider: provider, State: jobs.AttemptStarting, CreatedAt: at(created), NotBefore: at(created),
	})
}

func (l *life) last() *jobs.Attempt { return &l.job.Attempts[len(l.job.Attempts)-1] }

func (l *life) of(n int) *jobs.Attempt { return l.job.Attempt(n) }

func (l *life) open(provider, actor, reason string, created time.Duration) {
	n := l.last().Number + 1
	l.attempt(n, provider, created)
	l.event(created, actor, "open", n, "", "starting", reason)
	l.job.State = jobs.Queued
}

// run claims and sends the last attempt.
func (l *life) run(claimed, sent time.Duration) {
	a := l.last()
	a.State, a.Fence, a.SentAt = jobs.AttemptRunning, l.job.Version, at(sent)
	l.event(claimed, "worker-1", "claim", a.Number, "starting", "running", "")
	l.job.State = jobs.Running
}

func (l *life) suspect(n int, reason string, when time.Duration) {
	a := l.of(n)
	a.State, a.Reason, a.UnknownAt = jobs.AttemptUnknown, reason, at(when)
	l.event(when, "worker-1", "suspect", n, "running", "unknown", reason)
	l.job.State = jobs.Unknown
}

func (l *life) settle(n int, to jobs.AttemptState, actor, verb, reason string, when time.Duration) {
	a := l.of(n)
	l.event(when, actor, verb, n, string(a.State), string(to), reason)
	a.State, a.FinishedAt = to, at(when)
	if reason != "" {
		a.Reason = reason
	}
}

func (l *life) win(n int, actor string, when time.Duration) {
	l.settle(n, jobs.AttemptSucceeded, actor, "finalize", "", when)
	l.job.CompletedBy = n
	l.end(jobs.Succeeded, when)
}

func (l *life) end(state jobs.State, when time.Duration) {
	l.job.State, l.job.EndedAt, l.now = state, at(when), when+time.Hour
}

func (l *life) late(n int, reason string, when time.Duration) {
	l.event(when, "worker-1", "late_result_discarded", n, string(l.of(n).State), string(l.of(n).State), reason+" sha256:abc")
	l.of(n).LateResult = &jobs.LateResult{SHA256: "abc", Bytes: 12, At: at(when), Reason: reason}
}

func evidence(first, last time.Duration) json.RawMessage {
	return fmt.Appendf(nil, `{"first_byte_at":%q,"last_byte_at":%q}`, born.Add(first).Format(time.RFC3339Nano), born.Add(last).Format(time.RFC3339Nano))
}

// lives are the jobs that are drawn.
var lives = map[string]func() *life{
	"success": func() *life {
		l := begin()
		l.run(240*ms, 260*ms)
		l.last().Evidence = evidence(900*ms, 1400*ms)
		l.win(1, "worker-1", 1410*ms)
		return l
	},
	"late_answer_in_time": func() *life {
		l := begin()
		l.run(100*ms, 150*ms)
		l.suspect(1, "timeout", 10150*ms)
		l.event(15*sec, "reconciler", "look", 1, "unknown", "unknown", "running")
		l.win(1, "worker-1", 42*sec)
		return l
	},
	"resolved_then_second_wins": func() *life {
		l := begin()
		l.run(100*ms, 150*ms)
		l.suspect(1, "timeout", 10150*ms)
		l.job.Version = 2
		l.settle(1, jobs.AttemptFailed, "operator:ann", "resolve", "resolved_failed", 25*sec)
		l.open("laser", "operator:ann", "asked the printer", 26*sec)
		l.run(26300*ms, 26350*ms)
		l.win(2, "worker-2", 31*sec)
		l.late(1, "attempt_failed", 40*sec)
		return l
	},
	"race": func() *life {
		l := begin()
		l.run(50*ms, 80*ms)
		l.suspect(1, "timeout", 5*sec)
		l.open("laser", "sweeper", "race", 10*sec)
		l.run(10100*ms, 10120*ms)
		l.event(14*sec, "worker-2", "finalize", 2, "running", "succeeded", "")
		l.win(2, "worker-2", 14*sec)
		l.settle(1, jobs.AttemptDiscarded, "worker-2", "close", "job_succeeded", 14*sec)
		l.late(1, "slot_taken", 17*sec)
		return l
	},
	"cancelled": func() *life {
		l := begin()
		l.run(100*ms, 120*ms)
		l.event(3*sec, "operator:ann", "cancel", 0, "running", "cancelled", "wrong colour")
		l.settle(1, jobs.AttemptCancelled, "operator:ann", "close", "job_cancelled", 3*sec)
		l.end(jobs.Cancelled, 3*sec)
		return l
	},
	"running_now": func() *life {
		l := begin()
		l.run(120*ms, 140*ms)
		l.now = 6 * sec
		return l
	},
	"queued_and_held": func() *life {
		l := begin()
		l.event(20*sec, "sweeper", "hold", 1, "starting", "starting", "archived by an operator")
		l.now = 90 * sec
		return l
	},
	"unknown_for_hours": func() *life {
		l := begin()
		l.run(100*ms, 150*ms)
		l.suspect(1, "connection_lost", 2200*ms)
		l.event(7*sec, "reconciler", "look", 1, "unknown", "unknown", "lookup_absent: 404")
		l.event(3*time.Hour, "operator:ann", "wait", 1, "unknown", "unknown", "asked the printer")
		l.now = 5*time.Hour + 20*time.Minute
		return l
	},
	"ten_attempts": func() *life {
		l := begin()
		for n := 1; n <= 10; n++ {
			start := time.Duration(n-1) * 4 * sec
			if n > 1 {
				l.open([]string{"inkjet", "laser"}[n%2], "worker-1", "retry", start)
				l.last().NotBefore = at(start + time.Second)
			}
			l.run(start+1200*ms, start+1250*ms)
			l.settle(n, jobs.AttemptFailed, "worker-1", "fail", "busy", start+3900*ms)
		}
		l.end(jobs.Failed, 39900*ms)
		return l
	},
	"no_time_at_all": func() *life {
		l := begin()
		l.run(0, 0)
		l.win(1, "worker-1", 0)
		return l
	},
	"clocks_disagree": func() *life {
		l := begin()
		l.run(100*ms, 150*ms)
		l.last().Evidence = evidence(-time.Hour, -time.Hour+sec)
		l.suspect(1, "answer_truncated", 2*sec)
		l.now = -5 * time.Minute
		return l
	},
	"trail_gone": func() *life {
		l := begin()
		l.run(100*ms, 150*ms)
		l.suspect(1, "timeout", 10*sec)
		l.of(1).Lookup = &jobs.Lookup{Said: "running", At: at(20 * sec), Times: 3}
		l.settle(1, jobs.AttemptCancelled, "operator:ann", "resolve", "cancelled", 30*sec)
		l.late(1, "attempt_cancelled", 31*sec)
		l.end(jobs.Failed, 30*sec)
		l.events = nil
		return l
	},
	"hostile_words": func() *life {
		l := begin()
		l.last().Provider = `ink"><script>alert(1)</script>`
		l.run(100*ms, 150*ms)
		l.suspect(1, "timeout", 10*sec)
		l.event(12*sec, "reconciler", "look", 1, "unknown", "unknown", "</title><script>alert(1)</script> \u202egnp.exe\u2028 "+fmt.Sprint(make([]int, 400)))
		l.settle(1, jobs.AttemptFailed, "operator:<b>ann</b>", "resolve", "resolved_failed", 30*sec)
		l.end(jobs.Failed, 30*sec)
		return l
	},
}
