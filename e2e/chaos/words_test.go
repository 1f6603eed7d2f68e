package chaos_test

import (
	"fmt"
	"strings"
	"time"

	"onejob/jobs"
)

// How what a story holds is told in a few words: for the pictures, and for a person who
// reads why a run failed.

const clock = "15:04:05.000"

func (o operation) String() string {
	switch o.what {
	case inside, begin, end:
		return string(o.what) + " " + o.scripts[o.script].String()
	}
	return string(o.what) + " " + o.call.String()
}

func (s script) String() string {
	var lines []string
	for _, line := range s {
		lines = append(lines, lineString(line))
	}
	return strings.Join(lines, "; ")
}

func lineString(e jobs.Event) string {
	return fmt.Sprintf("%s %s by %s: attempt %d %s→%s %s", e.ID, e.Verb, e.Actor, e.Attempt, e.From, e.To, e.Reason)
}

func (c *call) String() string {
	text := c.Kind + " " + c.Path[strings.LastIndex(c.Path, "/")+1:]
	if c.IfMatch != 0 {
		text += fmt.Sprintf(" if v%d", c.IfMatch)
	}
	switch {
	case c.ok() && c.Replayed:
		return fmt.Sprintf("%s = %d again %s", text, c.Status, c.Job)
	case c.ok():
		return fmt.Sprintf("%s = %d %s", text, c.Status, c.Job)
	case c.Status == 0:
		return text + " = no answer"
	}
	return fmt.Sprintf("%s = %d %s %s", text, c.Status, c.Problem.Name, c.Problem.Job)
}

func (t told) String() string {
	return fmt.Sprintf("%s %s v%d.%d by %d %s %v", t.ID, t.State, t.Version, t.Revision, t.CompletedBy, t.Result, t.Attempts)
}

func (a toldAttempt) String() string { return fmt.Sprintf("%d:%s@%d", a.Number, a.State, a.Fence) }

func (m moment) String() string {
	return fmt.Sprintf("%d scripts, %s; %s %s v%d.%d by %d %s %v",
		m.scripts, m.stage, m.id, m.State, m.Version, m.revision, m.Winner, m.result, m.Attempts)
}

// String tells the whole story, a line for everything that happened.
func (s *story) String() string {
	var b strings.Builder
	at := func(t time.Time) string { return t.Local().Format(clock) }
	fmt.Fprintf(&b, "  job   %s\n", told{
		ID: s.Job.ID, State: s.Job.State, Version: s.Job.Version, CompletedBy: s.Job.CompletedBy,
		Result: string(s.Job.Result), Attempts: attemptsOf(&s.Job),
	})
	for _, e := range s.Trail {
		fmt.Fprintf(&b, "  trail %s %s\n", at(e.At.Go()), lineString(e))
	}
	for _, e := range s.Ledger {
		fmt.Fprintf(&b, "  ledger %s %d %s %s of %s %s\n", at(e.At), e.Seq, e.Kind, e.Attempt, e.Key, strings.TrimSpace(e.Mode+" "+e.Result))
	}
	for i := range s.Calls {
		c := &s.Calls[i]
		fmt.Fprintf(&b, "  call  %s–%s %s\n", at(c.Start), at(c.End), c)
	}
	return b.String()
}
