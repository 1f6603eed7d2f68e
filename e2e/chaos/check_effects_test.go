package chaos_test

import (
	"slices"
	"strings"

	"onejob/jobs"
)

// creates is the first half of I2: one create per attempt at the provider. Seen: what
// reached the provider, in its own ledger: every create is of an attempt of this job
// that was claimed before, reached it once, and not at all if it was said not to have
// left. Not seen: a create that got lost on the way, which had no effect.
func (s *story) creates(found *findings, walked walk) {
	times := map[string]int{}
	for _, e := range s.Ledger {
		a := s.attemptOf(e)
		if a == nil {
			found.say("I2", "the provider was asked for %s, which is no attempt of job %s", e.Attempt, s.Job.ID)
			continue
		}
		claimed, ok := walked.claims[a.Number]
		switch {
		case !ok:
			found.say("I2", "%s reached the provider and was never claimed", e.Attempt)
		case e.At.Before(claimed.Add(-slack)):
			found.say("I2", "%s reached the provider before its claim", e.Attempt)
		}
		if e.Kind != "create" {
			continue
		}
		if times[e.Attempt]++; times[e.Attempt] > 1 {
			found.say("I2", "%s was created %d times", e.Attempt, times[e.Attempt])
		}
		if a.State == jobs.AttemptFailed && neverLeft(a.Reason) {
			found.say("I2", "%s reached the provider and failed as %s", e.Attempt, a.Reason)
		}
	}
}

func (s *story) attemptOf(e entry) *jobs.Attempt {
	for i := range s.Job.Attempts {
		if jobs.AttemptID(s.Job.ID, s.Job.Attempts[i].Number) == e.Attempt {
			return &s.Job.Attempts[i]
		}
	}
	return nil
}

// neverLeft are the reasons that say that no call was made.
func neverLeft(reason string) bool {
	return slices.Contains([]string{"not_sent", "circuit_open", "request_invalid"}, reason)
}

// order is the second half of I2: a next attempt only after a definite failure, a
// resolve or a cancel. Seen: no call reaches the provider, in time for an effect, once
// its attempt had failed or succeeded, so that the next attempt's call overlaps none. A
// call that was cancelled may still be on its way: that is the canceller's choice
// (docs/guarantees.md). One that comes after X-Onejob-Not-After, the moment that is not
// promised, is refused by this provider and has no effect.
func (s *story) order(found *findings, walked walk) {
	for _, e := range s.Ledger {
		a := s.attemptOf(e)
		if a == nil || e.Kind != "create" || e.Mode == modeExpired {
			continue
		}
		end, over := walked.ended[a.Number]
		if over && end.To != "cancelled" && e.At.After(end.At.Go().Add(msec+slack)) {
			found.say("I2", "%s reached the provider after the attempt was %s", e.Attempt, end.To)
		}
	}
}

// effects is what I2 is for: one effect a job. Seen: an attempt that failed had none,
// so no further attempt repeated it; and beside the attempts that somebody cancelled,
// with what that may cost, there is one effect at most.
func (s *story) effects(found *findings) {
	var had []string
	for _, a := range s.Job.Attempts {
		if s.effect(a.Number) == "" || a.State == jobs.AttemptCancelled {
			continue
		}
		had = append(had, jobs.AttemptID(s.Job.ID, a.Number))
		if a.State == jobs.AttemptFailed {
			found.say("I2", "attempt %d failed (%s) and had its effect", a.Number, a.Reason)
		}
	}
	if len(had) > 1 {
		found.say("I2", "%s all had their effect", strings.Join(had, ", "))
	}
}

// effect is the result the ledger has of an attempt, as the provider tells it.
func (s *story) effect(n int) string {
	for _, e := range s.Ledger {
		if e.Result != "" && e.Attempt == jobs.AttemptID(s.Job.ID, n) {
			return resultJSON(e.Result)
		}
	}
	return ""
}

// slot is I3: succeeded exactly if one attempt won, its bytes unchanged. Seen: of every
// answer and of the record at the end, that state, winner and result are there together
// or not at all, that the result never changes, and that it is what the ledger has of
// the winner: the provider never makes the same twice, so a loser's is told from it. Not
// seen: bytes that change and change back between two answers.
func (s *story) slot(found *findings) {
	look := func(who string, state jobs.State, winner int, result string, attempts []toldAttempt) {
		var won []int
		for _, a := range attempts {
			if a.State == jobs.AttemptSucceeded {
				won = append(won, a.Number)
			}
		}
		switch succeeded := state == jobs.Succeeded; {
		case succeeded != (len(won) == 1) || len(won) > 1:
			found.say("I3", "%s was told %s with the winners %v", who, state, won)
		case succeeded && won[0] != winner, !succeeded && winner != 0:
			found.say("I3", "%s was told that %d completed the job, and that %v succeeded", who, winner, won)
		case !succeeded && result != "":
			found.say("I3", "%s was told a result of a job that is %s", who, state)
		case succeeded && result != s.effect(winner):
			found.say("I3", "%s was told the result %s, the ledger of the winner has %q", who, result, s.effect(winner))
		}
	}
	for _, c := range s.Calls {
		if c.ok() {
			look(c.Kind, c.Job.State, c.Job.CompletedBy, c.Job.Result, c.Job.Attempts)
		}
	}
	look("the last look", s.Job.State, s.Job.CompletedBy, string(s.Job.Result), attemptsOf(&s.Job))
}
