package jobs_test

import "onejob/jobs"

// plan is what a search is about: a route's policy and what its job was given.
type plan struct {
	name        string
	policy      modelPolicy
	startWithin int64
	hook        string
}

// Plans of a route with two attempts: one that asks the same provider again, one that
// goes on to the next and races, one that may do neither.
var everyPlan = []plan{
	{
		name:   "retry",
		policy: modelPolicy{MaxAttempts: 2, Tries: 2, Initial: hour, Max: hour, Failover: "certified", Providers: twoProviders},
	},
	{
		name:        "failover",
		policy:      modelPolicy{MaxAttempts: 2, Tries: 1, Max: 100, Failover: "certified", Providers: certifiedProviders},
		startWithin: 1000 * hour, hook: "https://receiver.example/hook",
	},
	{
		name:   "neither",
		policy: modelPolicy{MaxAttempts: 2, Tries: 1, Max: 100, Failover: "certified", Providers: twoProviders},
	},
}

var certifiedProviders = []jobs.PolicyProvider{{Name: "inkjet"}, {Name: "laser", Certificate: "c1"}}

// mostAttempts is the bound: what opens one more is compared, and not followed.
const mostAttempts = 2

// everyCommand lists the commands that are sent in every state, but for what
// complete fills in: those of two workers, the sweeper, whoever answers later, a
// person, a ticket and the caller.
func everyCommand(p plan) []command {
	all := []command{
		{verb: "submit", actor: "dev", fingerprint: "v1:a", sameJob: true},
		{verb: "submit", actor: "dev", fingerprint: "v1:a"},
		{verb: "submit", actor: "dev", fingerprint: "v1:b"},
		{verb: "cancel", actor: "dev", reason: "enough"},
		{verb: "cancel", actor: "dev", reason: "enough", expected: 1},
		{verb: "open", actor: "operator:1", reason: "again"},
		{verb: "open", actor: "ticket", reason: "ticket", expected: 1},
		{verb: "open", actor: "ticket", reason: "ticket", margin: 200 * hour}, // its record has 100 hours
	}
	for n := 1; n <= mostAttempts; n++ {
		for _, worker := range []string{"w1", "w2"} {
			all = append(all, ofWorker(n, worker)...)
		}
		all = append(all, ofOthers(n)...)
		if p.startWithin > 0 {
			all = append(all, command{verb: "expire_start", actor: "sweeper", attempt: n})
		}
	}
	for i := range all {
		all[i].policy = p.policy
	}
	return all
}

// ofWorker are the commands of a worker: its token is its name, so that its second
// claim is also the first one sent again.
func ofWorker(n int, worker string) []command {
	c := command{actor: worker, attempt: n, token: worker, lease: 1000 * hour, deadline: 2000 * hour}
	of := func(verb string, change func(*command)) command {
		made := c
		made.verb = verb
		if change != nil {
			change(&made)
		}
		return made
	}
	return []command{
		of("claim", nil),
		of("beat", nil),
		of("accept", func(c *command) { c.message = "handle" }),
		of("suspect", func(c *command) { c.reason, c.lookupIn, c.raceIn = "timeout", hour, hour }),
		of("finalize", func(c *command) { c.result = `{"by":"` + worker + `"}` }),
		of("fail", func(c *command) { c.reason, c.message, c.retryable = "busy", "no", true }),
	}
}

// ofOthers are those of who has no token: the sweeper, look-ups and a person.
func ofOthers(n int) []command {
	all := []command{
		{verb: "suspect", actor: "sweeper"},
		{verb: "race", actor: "sweeper"},
		{verb: "look", actor: "sweeper", message: "absent"},
		{verb: "note", actor: "sweeper", message: "cancel_asked"},
		{verb: "hold", actor: "sweeper", reason: "archived"},
		{verb: "fail", actor: "lookup", reason: "refused", message: "never"},
		{verb: "resolve", actor: "operator:1", outcome: "succeeded", reason: "seen", result: `{"by":"a person"}`},
	}
	for _, outcome := range []string{"failed", "cancelled"} {
		for _, then := range []string{"", "continue"} {
			all = append(all, command{verb: "resolve", actor: "operator:1", outcome: outcome, reason: "seen", then: then})
		}
	}
	for i := range all {
		all[i].attempt = n
	}
	return all
}

// complete gives a command what its sender knows: an operation id of its own, the
// provider and, worker w1 alone, the fence of its claim.
func complete(c command, r *record, op string) command {
	c.op, c.provider = op, "inkjet"
	if a := r.at(c.attempt); a != nil {
		c.provider = a.provider
		if c.token == "w1" {
			c.fence = a.fence
		}
	}
	return c
}
