package jobs_test

import (
	"strconv"
)

// command is one call of a verb with everything it is given.
type command struct {
	verb, op, actor string
	attempt         int
	token           string
	provider        string
	deadline, lease int64
	reason, message string
	fence           int64 // 0: the attempt's own
	expected        int64 // 0: any
	result          string
	retryable       bool
	retryAfter      int64
	policy          modelPolicy
	outcome, then   string
	margin          int64
	lookupIn        int64
	settleIn        int64
	raceIn          int64
	sameJob         bool   // submit: with the id of the first submission
	fingerprint     string // submit
}

// said is the model's answer.
type said struct {
	word, detail string
	opened       int
	blocking     int // the attempt in the way
}

func ok(word string) said { return said{word: word} }

// apply does what the table of design §2 says of the command at the time now.
// It returns whether anything was written.
func (r *record) apply(c command, now int64) (said, bool) {
	r.actor = c.actor
	if c.verb == "submit" {
		return r.submit(c)
	}
	answer, wrote := r.verb(c, now)
	if wrote && c.verb != "beat" {
		r.revision++
		r.seq++
		r.updated = now
	}
	return answer, wrote
}

func (r *record) verb(c command, now int64) (said, bool) {
	if c.verb == "cancel" {
		return r.cancelJob(c, now)
	}
	if c.verb == "open" {
		return r.openAttempt(c, now)
	}
	if c.verb == "race" {
		return r.race(c, now)
	}
	a := r.at(c.attempt)
	if a == nil {
		return ok("no_attempt"), false
	}
	switch c.verb {
	case "claim":
		return r.claim(c, a, now)
	case "beat":
		if a.state != "running" || a.token != c.token || now > a.deadline {
			return said{word: "revoked", detail: a.state}, false
		}
		a.lease = now + c.lease
		r.due[r.entry("lease", c.attempt)] = min(a.lease, a.deadline)
		return ok("beating"), true
	case "accept":
		if a.token == "" || a.token != c.token {
			return said{word: "revoked", detail: a.state}, false
		}
		if a.rest["handle"] == c.message {
			return ok("accepted"), false
		}
		a.rest["handle"] = c.message
		r.event("accept", c.attempt, a.state, a.state, "")
		return ok("accepted"), true
	case "hold":
		if a.state != "starting" {
			return said{word: "not_starting", detail: a.state}, false
		}
		if r.rest["hold"] == c.reason {
			return ok("held"), false
		}
		r.rest["hold"] = c.reason
		r.event("hold", c.attempt, "starting", "starting", c.reason)
		return ok("held"), true
	case "look":
		if again, done := r.recall(c); done {
			return again, false
		}
		if a.state != "unknown" {
			return said{word: "noted", detail: a.state}, false
		}
		if a.rest["lookup"] != c.message {
			r.event("look", c.attempt, "unknown", "unknown", c.message)
		}
		a.rest["lookup"], a.rest["looked_at"] = c.message, itoa(now)
		r.remember(c, "noted", "")
		return ok("noted"), true
	case "note":
		if again, done := r.recall(c); done {
			return again, false
		}
		r.event(c.message, c.attempt, a.state, a.state, c.reason)
		r.remember(c, "noted", "")
		return ok("noted"), true
	case "expire_start":
		if a.state != "starting" {
			return said{word: "not_starting", detail: a.state}, false
		}
		if !r.pastStart(now) {
			return ok("too_early"), false
		}
		return r.expireStart(c, a, now)
	case "suspect":
		return r.suspect(c, a, now)
	case "finalize":
		return r.finalize(c, a, now)
	case "fail":
		return r.fail(c, a, now)
	}
	return r.resolve(c, a, now)
}

func (r *record) submit(c command) (said, bool) {
	if c.fingerprint != "v1:a" {
		return said{word: "conflict", detail: r.id}, false
	}
	if c.sameJob {
		return said{word: "created", detail: r.id}, false
	}
	return said{word: "exists", detail: r.id}, false
}

func (r *record) claim(c command, a *attempt, now int64) (said, bool) {
	if a.state == "running" && a.token == c.token {
		return ok("claimed"), false
	}
	if a.state != "starting" || a.provider != c.provider || isEnded(r.state) {
		return said{word: "not_starting", detail: a.state}, false
	}
	if r.pastStart(now) {
		return r.expireStart(c, a, now)
	}
	if a.notBefore > now {
		return said{word: "too_early", detail: itoa(a.notBefore - now)}, false
	}
	a.state, a.fence, a.token = "running", r.version, c.token
	a.deadline, a.lease = now+c.deadline, now+c.lease
	delete(r.due, r.entry("wake", c.attempt))
	delete(r.due, r.entry("start", c.attempt))
	r.due[r.entry("lease", c.attempt)] = min(a.lease, a.deadline)
	r.event("claim", c.attempt, "starting", "running", "")
	delete(r.rest, "hold")
	r.settle(now)
	return ok("claimed"), true
}

func (r *record) pastStart(now int64) bool {
	by, given := r.rest["start_by"]
	return given && atoi(by) < now
}

func (r *record) expireStart(c command, a *attempt, now int64) (said, bool) {
	r.event(c.verb, c.attempt, "starting", "cancelled", "start_expired")
	r.end(c.attempt, "cancelled", now)
	a.rest["reason"] = "start_expired"
	if len(r.open(0)) == 0 {
		r.blame("start_expired", "no attempt was started in the time the job was given", c.attempt, "")
	}
	r.settle(now)
	r.remember(c, "start_expired", "")
	return ok("start_expired"), true
}

func (r *record) suspect(c command, a *attempt, now int64) (said, bool) {
	if again, done := r.recall(c); done {
		return again, false
	}
	if a.state != "running" {
		return said{word: "not_running", detail: a.state}, false
	}
	lapsed := ""
	if now > a.lease && a.lease < a.deadline {
		lapsed = "worker_lost"
	} else if now > a.deadline {
		lapsed = "deadline"
	}
	if lapsed == "" && (c.token == "" || c.token != a.token) {
		return ok("not_lapsed"), false
	}
	reason := c.reason
	if reason == "" {
		reason = lapsed
	}
	a.state, a.unknownAt = "unknown", now
	a.rest["effect"] = "unknown"
	if reason != "" {
		a.rest["reason"] = reason
	}
	delete(r.due, r.entry("lease", c.attempt))
	if c.lookupIn > 0 {
		r.due[r.entry("lookup", c.attempt)] = now + c.lookupIn
		a.rest["lookup_at"] = itoa(now + c.lookupIn)
	}
	if c.raceIn > 0 {
		r.due[r.entry("race", c.attempt)] = now + c.raceIn
	}
	r.event("suspect", c.attempt, "running", "unknown", reason)
	r.settle(now)
	r.remember(c, "suspected", "")
	return ok("suspected"), true
}

// entitled: the fence is the version, the slot is empty, the attempt is out there.
func (r *record) entitled(a *attempt, fence int64) bool {
	return a.fence == r.version && (fence == 0 || fence == r.version) && r.winner == 0 &&
		(a.state == "running" || a.state == "unknown")
}

func (r *record) finalize(c command, a *attempt, now int64) (said, bool) {
	if again, done := r.recall(c); done {
		return again, false
	}
	if r.winner == c.attempt && r.rest["result"] == c.result {
		return ok("won"), false
	}
	a.rest["effect"] = "done" // also of a closed one: it rises
	if !r.entitled(a, c.fence) {
		return r.late(c, a, hash(c.result), len(c.result), now)
	}
	return r.win(c, a, "finalize", "", now)
}

func (r *record) win(c command, a *attempt, verb, reason string, now int64) (said, bool) {
	r.rest["result"], r.rest["result_digest"] = c.result, hash(c.result)[:32]
	r.winner = c.attempt
	r.version++
	r.event(verb, c.attempt, a.state, "succeeded", reason)
	r.end(c.attempt, "succeeded", now)
	r.become("succeeded", now)
	r.remember(c, "won", "")
	return ok("won"), true
}

func (r *record) late(c command, a *attempt, sha256 string, bytes int, now int64) (said, bool) {
	reason := "version_moved"
	if r.winner != 0 && r.winner != c.attempt {
		reason = "slot_taken"
	} else if !isOpen(a.state) {
		reason = "attempt_" + a.state
	}
	if a.rest["late_sha256"] == "" {
		a.rest["late_sha256"], a.rest["late_bytes"] = sha256, strconv.Itoa(bytes)
		a.rest["late_at"], a.rest["late_reason"] = itoa(now), reason
	}
	from, to := a.state, a.state
	if isOpen(from) {
		// Also one that was never claimed, as far as the store knows: somebody has
		// made its call, so nobody else may.
		to = "discarded"
		r.end(c.attempt, to, now)
	}
	r.event("late_result_discarded", c.attempt, from, to, reason+" sha256:"+sha256)
	if to != from {
		if len(r.open(0)) == 0 && !isEnded(r.state) {
			r.blame("late_result", "the only open attempt was shut out by a newer version", c.attempt, "")
		}
		r.settle(now)
	}
	r.remember(c, "late", reason)
	return said{word: "late", detail: reason}, true
}

func (r *record) fail(c command, a *attempt, now int64) (said, bool) {
	if again, done := r.recall(c); done {
		return again, false
	}
	if a.state == "failed" && a.rest["reason"] == c.reason {
		return ok("failed"), false
	}
	if a.state == "starting" || a.state == "running" || a.state == "unknown" {
		a.rest["effect"] = "none"
	}
	if !r.entitled(a, c.fence) {
		return r.late(c, a, hash(c.message), len(c.message), now)
	}
	from := a.state
	r.end(c.attempt, "failed", now)
	a.rest["reason"], a.rest["error"] = c.reason, c.message
	r.event("fail", c.attempt, from, "failed", c.reason)
	opened := 0
	switch {
	case len(r.open(0)) > 0:
		r.settle(now)
	case !c.retryable:
		r.blame(c.reason, c.message, c.attempt, "")
		r.settle(now)
	default:
		opened = r.follow(c.policy, c.attempt, c.reason, c.message, c.retryAfter, now)
	}
	r.remember(c, "failed", number(opened))
	return said{word: "failed", opened: opened}, true
}

func (r *record) openAttempt(c command, now int64) (said, bool) {
	if again, done := r.recall(c); done {
		return again, false
	}
	if c.expected != 0 && c.expected != r.version {
		return ok("version_mismatch"), false
	}
	if isFinal(r.state) {
		return ok("job_final"), false
	}
	if r.ended > 0 && r.ended+r.keepJob-now < c.margin {
		return ok("expiring"), false
	}
	if open := r.open(0); len(open) > 0 {
		return said{word: "attempt_open", blocking: open[0]}, false
	}
	delete(r.rest, "start_by")
	provider := c.provider
	if provider == "" {
		provider = r.rest["provider"]
	}
	n := r.add(provider, 0, now, c.reason, "")
	r.remember(c, "opened", number(n))
	return said{word: "opened", opened: n}, true
}

// race opens the next provider's attempt beside the last one, which is silent.
func (r *record) race(c command, now int64) (said, bool) {
	if again, done := r.recall(c); done {
		return again, false
	}
	silent := r.at(c.attempt)
	if isEnded(r.state) || c.attempt != len(r.attempts) || silent.state != "unknown" {
		return said{word: "not_racing", detail: "moved_on"}, false
	}
	for _, n := range r.open(0) {
		if r.at(n).state != "unknown" {
			return said{word: "attempt_open", blocking: n}, false
		}
	}
	provider, certificate := c.policy.after(silent.provider)
	switch {
	case len(r.attempts) >= c.policy.MaxAttempts:
		return said{word: "not_racing", detail: "attempts_spent"}, false
	case provider == "":
		return said{word: "not_racing", detail: "providers_spent"}, false
	case certificate == "":
		return said{word: "not_racing", detail: "failover_not_certified"}, false
	}
	delete(r.due, r.entry("race", c.attempt))
	n := r.add(provider, 0, now, "race:"+certificate, certificate)
	r.remember(c, "opened", number(n))
	return said{word: "opened", opened: n}, true
}

func (r *record) resolve(c command, a *attempt, now int64) (said, bool) {
	if again, done := r.recall(c); done {
		return again, false
	}
	if c.expected != 0 && c.expected != r.version {
		return ok("version_mismatch"), false
	}
	if !isOpen(a.state) {
		return said{word: "attempt_terminal", blocking: c.attempt}, false
	}
	if c.outcome != "cancelled" && a.state != "unknown" {
		return said{word: "not_unknown", blocking: c.attempt}, false
	}
	if c.outcome == "succeeded" {
		if !r.entitled(a, 0) {
			return r.late(c, a, hash(c.result), len(c.result), now)
		}
		a.rest["effect"] = "done"
		return r.win(c, a, "resolve", c.reason, now)
	}
	if len(r.open(c.attempt)) == 0 {
		r.version++
	}
	from := a.state
	if c.outcome == "cancelled" {
		r.callOff(c.attempt, now)
	}
	r.end(c.attempt, c.outcome, now)
	code := map[string]string{"failed": "resolved_failed", "cancelled": "cancelled"}[c.outcome]
	a.rest["reason"], a.rest["error"] = code, c.reason
	r.event("resolve", c.attempt, from, c.outcome, c.reason)
	opened := 0
	switch {
	case len(r.open(0)) > 0:
		r.settle(now)
	case c.then == "continue":
		opened = r.follow(c.policy, c.attempt, "resolved_"+c.outcome, c.reason, 0, now)
	default:
		code := map[string]string{"failed": "resolved_failed", "cancelled": "attempt_cancelled"}[c.outcome]
		r.blame(code, c.reason, c.attempt, "")
		r.settle(now)
	}
	r.remember(c, "resolved", number(opened))
	return said{word: "resolved", opened: opened}, true
}

func (r *record) cancelJob(c command, now int64) (said, bool) {
	if again, done := r.recall(c); done {
		return again, false
	}
	if c.expected != 0 && c.expected != r.version {
		return ok("version_mismatch"), false
	}
	if isEnded(r.state) {
		return ok("job_final"), false
	}
	r.version++
	r.event("cancel", 0, r.state, "cancelled", c.reason)
	r.become("cancelled", now)
	r.remember(c, "cancelled", "")
	return ok("cancelled"), true
}

// remember and recall: a command sent again is answered again, not done again.
func (r *record) remember(c command, answer, detail string) {
	r.ops = append(r.ops, remembered{c.op, answer, detail})
}

func (r *record) recall(c command) (said, bool) {
	for _, o := range r.ops[max(0, len(r.ops)-16):] {
		if o.op == c.op {
			s := said{word: o.answer}
			if o.answer == "late" {
				s.detail = o.detail
			} else {
				s.opened = int(atoi(o.detail))
			}
			return s, true
		}
	}
	return said{}, false
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func atoi(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}
