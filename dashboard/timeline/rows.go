package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"onejob/jobs"
)

// Row is one line of the table that says what the drawing shows.
type Row struct {
	Attempt  int
	Provider string
	What     string
	At       time.Time
	After    string // since the job was created
	Took     string // of a while; empty for a moment
	Open     bool   // it goes on
	Class    string // the drawing's class of the same thing
}

// Rows are the spans and marks of every attempt, attempt by attempt, each in the
// order of time, what happens before what it begins.
func (t Timeline) Rows() []Row {
	var rows []Row
	for _, lane := range t.Lanes {
		var of []Row
		for _, m := range lane.Marks {
			of = append(of, Row{What: m.Text, At: m.At, Class: "tl-" + string(m.Sign)})
		}
		for _, s := range lane.Spans {
			of = append(of, Row{
				What: s.Kind.Words(), At: s.From, Took: Took(s.To.Sub(s.From)), Open: s.Open, Class: "tl-" + string(s.Kind),
			})
		}
		slices.SortStableFunc(of, func(a, b Row) int { return a.At.Compare(b.At) })
		for i := range of {
			of[i].Attempt, of[i].Provider, of[i].After = lane.Attempt, lane.Provider, "+"+Took(of[i].At.Sub(t.From))
		}
		rows = append(rows, of...)
	}
	return rows
}

// Summary says the whole in a sentence or two.
func (t Timeline) Summary() string {
	var b strings.Builder
	if t.Live {
		fmt.Fprintf(&b, "The job is %s, %s after it was created.", t.State, Took(t.To.Sub(t.From)))
	} else {
		was := ""
		if t.State == jobs.Cancelled {
			was = "was "
		}
		fmt.Fprintf(&b, "The job %s%s %s after it was created.", was, t.State, Took(t.Ended.Sub(t.From)))
	}
	for _, lane := range t.Lanes {
		fmt.Fprintf(&b, " Attempt %d at %s: %s", lane.Attempt, lane.Provider, lane.State)
		if lane.Winner {
			b.WriteString(", and won")
		}
		b.WriteString(".")
	}
	return b.String()
}
