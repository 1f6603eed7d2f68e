package chaos_test

import (
	"slices"
	"strings"

	"onejob/jobs"
)

// script is the lines of the trail that one verb wrote, which nobody sees half of.
type script []jobs.Event

// scripts puts the lines that were written at once together: what closes the open
// attempts of a job that became final, and the attempt that follows a definite no
// (design §2). Their order is the one of their ids.
func scripts(trail []jobs.Event) []script {
	var all []script
	for _, line := range trail {
		if last := len(all) - 1; last >= 0 && all[last].goesOn(line) {
			all[last] = append(all[last], line)
			continue
		}
		all = append(all, script{line})
	}
	return all
}

func (s script) goesOn(line jobs.Event) bool {
	before := s[len(s)-1]
	if line.At != before.At || line.Actor != before.Actor {
		return false
	}
	switch line.Verb {
	case "close":
		return slices.Contains([]string{"finalize", "resolve", "cancel", "close"}, before.Verb)
	case "open":
		return before.Verb == "fail" || before.Verb == "resolve"
	}
	return false
}

// verb names what a script did so that the call that asked for it can be told: the
// verb and, for a decision about an attempt, its number and what was decided. A script
// that no caller asks for has none.
func (s script) verb() verb {
	line := s[0]
	switch line.Verb {
	case "submit", "cancel":
		return verb{name: line.Verb}
	case "resolve":
		return verb{name: line.Verb, attempt: line.Attempt, to: line.To}
	case "open":
		if !strings.HasPrefix(line.Reason, "race:") && line.Actor != "operator:queue" {
			return verb{name: line.Verb}
		}
	}
	return verb{}
}

// verb is what a caller asks for, or a script did because a caller asked.
type verb struct {
	name    string
	attempt int
	to      string
}

// verb is the verb a call asks for; none of a call that only looks.
func (c *call) verb() verb {
	switch tail := c.Path[strings.LastIndex(c.Path, "/")+1:]; {
	case c.Kind == "get" || c.Kind == "list":
		return verb{}
	case c.Path == "/v1/jobs":
		return verb{name: "submit"}
	case c.attempt() > 0 && tail == "resolve":
		outcome, _ := c.decision()
		return verb{name: "resolve", attempt: c.attempt(), to: outcome}
	case c.attempt() > 0 && tail == "cancel":
		return verb{name: "resolve", attempt: c.attempt(), to: "cancelled"}
	case tail == "cancel":
		return verb{name: "cancel"}
	case tail == "attempts":
		return verb{name: "open"}
	}
	return verb{}
}
