package chaos_test

import (
	"fmt"
	"slices"
	"strings"

	"onejob/jobs"
)

// story is all that is known of one key at the end: what was answered, what the
// provider's ledger and the trail have of it, and the job as it is.
type story struct {
	Job    jobs.Job
	Gone   bool     // the job that was acknowledged is not there any more
	Listed []string // the ids of the jobs that the list has under the key
	Trail  []jobs.Event
	Ledger []entry
	Calls  []call
	Stray  finding // what is wrong, where there is no story: a line of the ledger, or a job, of nobody
	Calm   bool    // nothing was made to fail while it ran
}

// finding is an invariant of design §2 by its name, and how a story breaks it. Two
// names are not the design's: TRAIL, that the trail is whole, and TOLD, that an answer
// does not contradict itself.
type finding struct{ rule, what string }

func (f finding) String() string { return f.rule + ": " + f.what }

// findings collects what checks say; each thing once.
type findings []finding

func (f findings) String() string {
	var all []string
	for _, one := range f {
		all = append(all, one.String())
	}
	return strings.Join(all, "; ")
}

func (f *findings) say(rule, format string, args ...any) {
	if said := (finding{rule, fmt.Sprintf(format, args...)}); !slices.Contains(*f, said) {
		*f = append(*f, said)
	}
}

// wrong says which invariants a story breaks. It reads nothing but the story. What each
// check sees, and what cannot be seen from outside, stands at the check; the table of
// both is in docs/reliability.md.
func (s *story) wrong() findings {
	var found findings
	if s.Stray.rule != "" {
		found.say(s.Stray.rule, "%s", s.Stray.what)
		return found
	}
	if s.Gone {
		found.say("I1", "job %s was acknowledged and is not there", s.Job.ID)
		return found
	}
	walked := s.walk(&found)
	s.acknowledged(&found)
	s.reserved(&found)
	s.bound(&found)
	s.creates(&found, walked)
	s.order(&found, walked)
	s.effects(&found)
	s.slot(&found)
	s.alone(&found)
	s.final(&found)
	s.late(&found, walked)
	s.versions(&found, walked)
	s.open(&found)
	s.patience(&found, walked)
	s.calm(&found)
	return found
}

// slack is how far two readings of this machine's clock may be from each other; Redis's
// are whole milliseconds besides, cut off.
const slack = 2 * msec
