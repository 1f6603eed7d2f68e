package chaos_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"onejob/jobs"
)

// walk is what the trail says when it is read from its first line to its last.
type walk struct {
	record   record
	claims   map[int]time.Time // when an attempt was claimed
	left     map[int]time.Time // when it stopped running
	ended    map[int]jobs.Event
	discards map[int][]string // the digests of late outcomes
}

// walk tells the job again from its trail. Seen: every line goes on where the one
// before it ended, and breaks none of the rules for verbs of design §2: I2 (a claim of
// a starting attempt, once), I3 (one takes the slot), I4 (nothing opens while something
// is open), I5 (nothing leaves a terminal or final state), I6 (nothing late is applied),
// I7 (one submit). Ids without gaps show that no line was lost; at the end the record
// must be what the trail makes it. Not seen: a write that leaves no line and no trace.
func (s *story) walk(found *findings) walk {
	w := walk{claims: map[int]time.Time{}, left: map[int]time.Time{}, ended: map[int]jobs.Event{}, discards: map[int][]string{}}
	for i, line := range s.Trail {
		if line.ID != strconv.Itoa(i+1) {
			found.say("TRAIL", "line %d has the id %s", i+1, line.ID)
		}
		if i > 0 && line.At < s.Trail[i-1].At {
			found.say("TRAIL", "line %s is earlier than the one before", line.ID)
		}
		w.note(line)
	}
	for _, script := range scripts(s.Trail) {
		var broken []breach
		w.record, broken = w.record.after(script)
		for _, b := range broken {
			found.say(b.rule, "line %s: %s", script[0].ID, b.what)
		}
	}
	s.agrees(found, w.record)
	return w
}

func (w *walk) note(line jobs.Event) {
	n, moved := line.Attempt, line.From != line.To
	if line.Verb == "late_result_discarded" {
		_, sha, _ := strings.Cut(line.Reason, " sha256:")
		w.discards[n] = append(w.discards[n], sha)
	}
	if line.To == "running" && moved {
		w.claims[n] = line.At.Go()
	}
	if line.From == "running" && moved {
		w.left[n] = line.At.Go()
	}
	if _, twice := w.ended[n]; n > 0 && moved && !twice && !jobs.AttemptState(line.To).Open() {
		w.ended[n] = line
	}
}

// agrees compares the record with what the trail made of it. The version is I9's part.
func (s *story) agrees(found *findings, r record) {
	if r.State != s.Job.State {
		found.say("TRAIL", "the trail ends %s, the job is %s", r.State, s.Job.State)
	}
	for _, a := range s.Job.Attempts {
		switch seen := r.attempt(a.Number); {
		case seen == nil:
			found.say("TRAIL", "nothing opened attempt %d", a.Number)
		case seen.State != a.State:
			found.say("TRAIL", "attempt %d ends %s in the trail and is %s", a.Number, seen.State, a.State)
		case seen.Fence != a.Fence:
			found.say("TRAIL", "attempt %d was claimed at version %d and has the fence %d", a.Number, seen.Fence, a.Fence)
		}
	}
}

func attemptsOf(job *jobs.Job) []toldAttempt {
	var all []toldAttempt
	for _, a := range job.Attempts {
		all = append(all, toldAttempt{a.Number, a.State, a.Fence})
	}
	return all
}

// late is I6: every late outcome is recorded, none applied. Seen: an attempt has a late
// result exactly if the trail has its line, with the same digest; the digest of a late
// success is that of what the ledger has; an attempt that was shut out has the one or
// the other reason; and the slot never holds what lost (see slot). In a run in which
// nothing failed, every cancelled call that had its effect left a late result. Not seen
// in one with faults: outcomes that died with the worker that heard them.
func (s *story) late(found *findings, walked walk) {
	for _, a := range s.Job.Attempts {
		lines := walked.discards[a.Number]
		switch {
		case a.LateResult == nil && len(lines) > 0:
			found.say("I6", "the trail has a late outcome of attempt %d, the attempt has none", a.Number)
		case a.LateResult != nil && !slices.Contains(lines, a.LateResult.SHA256):
			found.say("I6", "the late outcome of attempt %d is not in the trail", a.Number)
		case a.LateResult == nil && a.State == jobs.AttemptDiscarded && walked.ended[a.Number].Verb != "close":
			found.say("I6", "attempt %d was discarded and has no late outcome", a.Number)
		}
		result := s.effect(a.Number)
		if late := a.LateResult; late != nil && result != "" && late.Bytes == int64(len(result)) && late.SHA256 != digest(result) {
			found.say("I6", "the late outcome of attempt %d is not what the ledger has", a.Number)
		}
		if s.Calm && result != "" && a.State == jobs.AttemptCancelled && a.LateResult == nil {
			found.say("I6", "attempt %d was cancelled and had its effect, and no late outcome was recorded", a.Number)
		}
	}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// What the configuration of the run says (writeConfig); a sweep is a beat apart.
const (
	deadlineForTest = 4 * time.Second
	sweepForTest    = time.Second
)

// runsAtMost is the first half of I10 with everything that may be added to it here: a
// lease is beaten until the deadline at most, and two sweeps find what nobody beats. A
// sweep takes a worker and Redis, and both are killed and started again; after each gap
// in the sweeps nobody is suspected for one lease, and with a Redis that is killed every
// few seconds one gap follows the other. Past what it would be without outages 73 s were
// seen, once, and never understood (docs/reliability.md).
const runsAtMost = withoutOutages + 2*time.Minute

// withoutOutages is the same where nothing is away.
const withoutOutages = deadlineForTest + lease + 2*sweepForTest

// patience is the first half of I10: nothing is running past its lease and two sweeps.
// Seen: how long the trail has every attempt running. Not seen: the leases themselves,
// which no answer shows, so that the bound is the longest a lease can be.
func (s *story) patience(found *findings, walked walk) {
	for n, at := range walked.claims {
		if left, ok := walked.left[n]; ok && left.Sub(at) > runsAtMost {
			found.say("I10", "attempt %d was running for %v", n, left.Sub(at))
		}
	}
}

// calm is I12: a run without faults has no unknown. It is looked at in a run in which
// none is made; in one with faults nothing of it can be seen.
func (s *story) calm(found *findings) {
	if !s.Calm {
		return
	}
	for _, line := range s.Trail {
		if line.To == "unknown" {
			found.say("I12", "line %s made attempt %d unknown: %s", line.ID, line.Attempt, line.Reason)
		}
	}
	for _, c := range s.Calls {
		for _, a := range c.Job.Attempts {
			if a.State == jobs.AttemptUnknown {
				found.say("I12", "%s was told that attempt %d is unknown", c.Kind, a.Number)
			}
		}
	}
}
