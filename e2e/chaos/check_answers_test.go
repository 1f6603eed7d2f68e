package chaos_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"time"

	"onejob/jobs"
)

const msec = time.Millisecond

// acknowledged is I1: an acknowledged job is never lost. Seen: every job id that an
// answer named is still there under its key, by the job itself and in the list, and was
// there at every call in between. Not seen: jobs whose acknowledgement reached nobody;
// and losses on a disk that lies about fsync, for killing redis-server does not lose
// the page cache.
func (s *story) acknowledged(found *findings) {
	var since time.Time // when the job was first acknowledged
	for _, c := range s.Calls {
		if c.Broken != "" {
			found.say("TOLD", "%s", c.Broken)
		}
		if c.ok() && (since.IsZero() || c.End.Before(since)) {
			since = c.End
		}
	}
	for _, c := range s.Calls {
		lost := c.Status == http.StatusNotFound || c.Status == http.StatusGone
		if lost && !since.IsZero() && c.Start.After(since) {
			found.say("I1", "%s %s was answered %d after the job had been acknowledged", c.Kind, c.Path, c.Status)
		}
	}
	if s.Listed == nil {
		return // nobody looked
	}
	times := 0
	for _, id := range s.Listed {
		if id == s.Job.ID {
			times++
		}
	}
	if times == 0 {
		found.say("I1", "the list does not have job %s", s.Job.ID)
	}
	if times > 1 {
		found.say("I11", "the list has job %s %d times", s.Job.ID, times)
	}
}

// reserved is I7: any number of concurrent POSTs of one key and body, at any API
// process, give one job id. Seen: every answer to them names one id, one of them at
// most is told that it made the job, none is refused as another's, and the list has one
// job under the key. Not seen: a second job that no answer named and that the list hides,
// which is I11's part.
func (s *story) reserved(found *findings) {
	made := 0
	for _, c := range s.Calls {
		if c.ok() && c.Job.ID != s.Job.ID {
			found.say("I7", "%s was told job %q, others %q", c.Kind, c.Job.ID, s.Job.ID)
		}
		if c.Problem.Job != "" && c.Problem.Job != s.Job.ID {
			found.say("I7", "the refusal of %s names job %q, others %q", c.Kind, c.Problem.Job, s.Job.ID)
		}
		if c.verb().name != "submit" {
			continue
		}
		if c.ok() && !c.Replayed {
			made++
		}
		if c.Status == http.StatusConflict && s.intended(c) {
			found.say("I7", "the same body was answered %d %s", c.Status, c.Problem.Name)
		}
	}
	if made > 1 {
		found.say("I7", "%d submissions were told that they made the job", made)
	}
	for _, id := range s.Listed {
		if id != s.Job.ID {
			found.say("I7", "the list has job %s under the key of job %s", id, s.Job.ID)
		}
	}
}

// bound is I8: a key is bound to one exact body; any other is answered 409 whatever the
// state, and nothing is written. Seen: those answers, and that the job's input, the
// key it carries and what the provider was given are the first body's in every answer.
// That nothing else was written shows in the trail (see walk) and in the model of
// linear_test.go, where a refusal must leave the revision to those who wrote.
func (s *story) bound(found *findings) {
	for _, c := range s.Calls {
		if c.verb().name == "submit" && c.answered() && !s.intended(c) &&
			(c.Status != http.StatusConflict || c.Problem.Name != "idempotency-key-reused") {
			found.say("I8", "another body was answered %d %s", c.Status, c.Problem.Name)
		}
		if c.ok() && c.Job.Input != string(s.Job.Input) {
			found.say("I8", "the input was %s in the answer to %s, and is %s", c.Job.Input, c.Kind, s.Job.Input)
		}
	}
	if key := s.idemKey(); key != "" && s.Job.IdempotencyKey != key {
		found.say("I8", "the job of key %s has key %s", key, s.Job.IdempotencyKey)
	}
	if intent := s.intent(); intent != "" && !sameJSON(intent, string(s.Job.Input)) {
		found.say("I8", "%s was sent, and the job has %s", intent, s.Job.Input)
	}
	for _, e := range s.Ledger {
		if e.Key != s.key() {
			found.say("I8", "the provider was given the payload of %s for attempt %s of the job of %s", e.Key, e.Attempt, s.key())
		}
	}
}

// key names the story; idemKey is its Idempotency-Key.
func (s *story) key() string {
	if len(s.Calls) == 0 {
		return ""
	}
	return s.Calls[0].Key
}

func (s *story) idemKey() string {
	for _, c := range s.Calls {
		if c.IdemKey != "" {
			return c.IdemKey
		}
	}
	return ""
}

// intent is the input of the submission that made the job: the callers of a key send
// the same one first, and another only when they were told of the job.
func (s *story) intent() string {
	for _, c := range s.Calls {
		if c.Kind == "submit" {
			return input(c.Body)
		}
	}
	return ""
}

// intended tells whether a submission asks for what the job is.
func (s *story) intended(c call) bool { return sameJSON(input(c.Body), string(s.Job.Input)) }

func input(body string) string {
	var sent struct {
		Input json.RawMessage `json:"input"`
	}
	_ = json.Unmarshal([]byte(body), &sent)
	return string(sent.Input)
}

func sameJSON(a, b string) bool {
	if a == b {
		return true
	}
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// final is I5: terminal and final states never change. Seen: no answer shows a terminal
// attempt or a final job that is anything else later. What changed between two answers
// and back is seen in the trail (see walk).
func (s *story) final(found *findings) {
	for _, c := range s.Calls {
		if !c.ok() {
			continue
		}
		if c.Job.State.Final() && c.Job.State != s.Job.State {
			found.say("I5", "the job was %s, and is %s", c.Job.State, s.Job.State)
		}
		for _, a := range c.Job.Attempts {
			now := s.Job.Attempt(a.Number)
			if now == nil {
				found.say("I5", "attempt %d was %s, and is not there", a.Number, a.State)
			} else if !a.State.Open() && now.State != a.State {
				found.say("I5", "attempt %d was %s, and is %s", a.Number, a.State, now.State)
			}
		}
	}
}

// versions is I9: the version only rises. Seen: of two answers of which one was over
// before the other was asked for, the second has no lower version; and at the end it is
// what the decisions in the trail make it. Not seen: a fall and rise between two answers.
func (s *story) versions(found *findings, walked walk) {
	byEnd := slices.DeleteFunc(slices.Clone(s.Calls), func(c call) bool { return !c.ok() })
	byStart := slices.Clone(byEnd)
	slices.SortFunc(byEnd, func(a, b call) int { return a.End.Compare(b.End) })
	slices.SortFunc(byStart, func(a, b call) int { return a.Start.Compare(b.Start) })
	highest, over := int64(0), 0
	for _, c := range byStart {
		for ; over < len(byEnd) && byEnd[over].End.Before(c.Start); over++ {
			highest = max(highest, byEnd[over].Job.Version)
		}
		if c.Job.Version < highest {
			found.say("I9", "%s was told version %d after version %d", c.Kind, c.Job.Version, highest)
		}
	}
	if s.Job.Version < highest {
		found.say("I9", "the version was %d, and is %d", highest, s.Job.Version)
	}
	if v := walked.record.Version; s.Job.Version < v {
		found.say("I9", "the trail's decisions make version %d, the job has %d", v, s.Job.Version)
	}
}

// open is the second half of I10: no job that has not ended lacks an open attempt, and
// none that has ended has one. Seen: in every answer, for each is one reading of the
// record; and that every job has ended. Not seen: records that nobody read meanwhile.
func (s *story) open(found *findings) {
	look := func(state jobs.State, attempts []toldAttempt) {
		r := record{Attempts: attempts}
		switch n := r.open(0); {
		case state.Ended() && n > 0:
			found.say("I10", "a job that is %s has %d open attempts", state, n)
		case !state.Ended() && n == 0:
			found.say("I10", "a job that is %s has no open attempt", state)
		}
	}
	for _, c := range s.Calls {
		if c.ok() {
			look(c.Job.State, c.Job.Attempts)
		}
	}
	look(s.Job.State, attemptsOf(&s.Job))
	if !s.Job.State.Ended() {
		found.say("I10", "the job is %s at the end", s.Job.State)
	}
}

// alone is I4 as answers show it: no attempt is open beside another, for no route here
// races. The trail shows it line by line (see walk).
func (s *story) alone(found *findings) {
	for _, c := range s.Calls {
		r := record{Attempts: c.Job.Attempts}
		if n := r.open(0); c.ok() && n > 1 {
			found.say("I4", "%s was told of %d open attempts", c.Kind, n)
		}
	}
}
