package jobs_test

import (
	"fmt"
	"strconv"
)

// The parts of the table that every verb ends in.

// settle makes the job's state follow from its attempts; a final job stays.
func (r *record) settle(now int64) {
	some := map[string]bool{}
	for _, a := range r.attempts {
		some[a.state] = true
	}
	to := "failed"
	switch {
	case some["running"]:
		to = "running"
	case some["starting"]:
		to = "queued"
	case some["unknown"]:
		to = "unknown"
	}
	r.become(to, now)
}

func (r *record) become(to string, now int64) {
	from := r.state
	if isFinal(from) || from == to {
		return
	}
	r.state = to
	expire := "expire:" + r.id + ":" + r.owner
	if isEnded(to) {
		r.ended = now
		r.due[expire] = now + r.keepJob
	} else if isEnded(from) {
		r.ended = 0
		delete(r.due, expire)
	}
	if isFinal(to) {
		for _, n := range r.open(0) {
			a := r.at(n)
			end := "discarded"
			if a.state == "starting" || to == "cancelled" {
				end = "cancelled"
			}
			r.event("close", n, a.state, end, "job_"+to)
			r.callOff(n, now)
			r.end(n, end, now)
			a.rest["reason"] = "job_" + to
		}
	}
	if r.rest["webhook_url"] != "" && (isEnded(to) || to == "unknown") {
		r.hooks = append(r.hooks, delivery{"job." + to, now})
		r.due[fmt.Sprintf("webhook:%s:h%d", r.id, len(r.hooks))] = now
	}
	if to == "failed" {
		r.due[fmt.Sprintf("ticket:%s:%d", r.id, r.version)] = now
	}
}

// end gives an attempt a terminal state; nothing is to be done about it any more.
func (r *record) end(n int, state string, now int64) {
	a := r.at(n)
	if !isOpen(a.state) {
		panic("the model breaks I5: " + a.state + " to " + state)
	}
	if a.state == "starting" {
		delete(r.rest, "hold")
	}
	a.state, a.finished, a.lease, a.deadline = state, now, 0, 0
	for _, kind := range []string{"wake", "lease", "lookup", "settle", "race", "start"} {
		delete(r.due, r.entry(kind, n))
	}
}

// callOff has the provider asked to cancel a call that may be running there.
func (r *record) callOff(n int, now int64) {
	if state := r.at(n).state; state == "running" || state == "unknown" {
		r.due[r.entry("cancel", n)] = now
	}
}

func (r *record) entry(kind string, n int) string { return fmt.Sprintf("%s:%s:%d", kind, r.id, n) }

func (r *record) event(verb string, n int, from, to, reason string) {
	number := ""
	if n > 0 {
		number = strconv.Itoa(n)
	}
	r.trail = append(r.trail, fmt.Sprintf("%s by %s: attempt %s, %s to %s (%s)", verb, r.actor, number, from, to, reason))
}

func (r *record) blame(code, message string, n int, provider string) {
	r.rest["error_code"], r.rest["error_message"], r.rest["error_provider"] = code, message, provider
	r.rest["error_attempt"] = strconv.Itoa(n)
}

// add opens the next attempt; whoever asked has looked whether it may.
func (r *record) add(provider string, wait, now int64, reason, certificate string) int {
	a := &attempt{state: "starting", provider: provider, created: now, notBefore: now + wait, rest: map[string]string{}}
	if certificate != "" {
		a.rest["certificate"] = certificate
	}
	r.attempts = append(r.attempts, a)
	n := len(r.attempts)
	r.rest["provider"] = provider
	r.due[r.entry("wake", n)] = now + wait + 5000
	if by, given := r.rest["start_by"]; given {
		r.due[r.entry("start", n)] = atoi(by) + 1
	}
	r.event("open", n, "", "starting", reason)
	if r.state == "failed" {
		r.version++
		for _, field := range []string{"error_code", "error_message", "error_attempt", "error_provider"} {
			delete(r.rest, field)
		}
	}
	r.settle(now)
	return n
}

// follow is what comes after the definite, retryable failure of attempt n (§6).
func (r *record) follow(p modelPolicy, n int, code, message string, retryAfter, now int64) int {
	provider, wait, certificate, refusal := r.plan(p, n, retryAfter)
	if refusal == "" {
		why := "retry"
		if provider != r.at(n).provider {
			why = "failover:" + certificate
		}
		return r.add(provider, wait, now, why, certificate)
	}
	if refusal == "failover_not_certified" {
		r.blame(refusal, message, n, provider)
	} else {
		r.blame(code, message, n, "")
	}
	r.settle(now)
	return 0
}

func (r *record) plan(p modelPolicy, n int, retryAfter int64) (provider string, wait int64, certificate, refusal string) {
	if len(r.attempts) >= p.MaxAttempts {
		return "", 0, "", "attempts_spent"
	}
	provider = r.at(n).provider
	tries := 0
	for _, a := range r.attempts {
		if a.provider == provider {
			tries++
		}
	}
	if tries < p.Tries {
		return provider, max(min(p.Max, p.Initial<<(tries-1)), retryAfter), "", ""
	}
	next, certificate := p.after(provider)
	switch {
	case next == "":
		return "", 0, "", "providers_spent"
	case certificate != "":
		return next, 0, certificate, ""
	}
	return next, 0, "", "failover_not_certified"
}

// after is the provider after another, and what allows a fail-over to it.
func (p modelPolicy) after(provider string) (next, certificate string) {
	for i := range len(p.Providers) - 1 {
		if p.Providers[i].Name == provider {
			next, certificate = p.Providers[i+1].Name, p.Providers[i+1].Certificate
			if p.Failover == "untested" {
				certificate = "untested"
			}
		}
	}
	return next, certificate
}
