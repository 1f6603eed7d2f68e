package chaos_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// jsonEnv names the file that the figures of a run are written to.
const jsonEnv = "ONEJOB_CHAOS_JSON"

// figures are what a run did and met.
type figures struct {
	Seed   int64          `json:"seed"`
	Jobs   int            `json:"jobs"`
	Again  string         `json:"again"`
	Phases []phase        `json:"phases"`
	Faults []faultFigures `json:"faults"`
	// Toxics are those of kind network, by what they do.
	Toxics tally `json:"toxics"`
	// RedisAway is how long it was, from each kill to its being ready again, in all.
	RedisAway seconds `json:"redis_away_seconds"`
	// GaveUp counts the starts of a process that found no store, and were made again.
	GaveUp int `json:"gave_up"`

	Calls    tally   `json:"calls"` // by kind
	Answers  tally   `json:"answers"`
	Ends     tally   `json:"jobs_by_state"`
	Attempts int     `json:"attempts"`
	Unknown  tally   `json:"attempts_unknown"` // by reason
	Settled  tally   `json:"unknown_settled"`  // by whom, and how
	Late     tally   `json:"late_discarded"`   // by reason
	Overlong int     `json:"running_overlong"` // past deadline, lease and two sweeps
	Longest  seconds `json:"running_longest_seconds"`
	// LongestOf is the job it was of.
	LongestOf string `json:"running_longest_job"`
	Modes     tally  `json:"provider_modes"`
	Presses   tally  `json:"creates_by_provider"`
	Effects   int    `json:"effects"`
	Unused    int    `json:"effects_not_the_result"` // of cancelled and resolved attempts, and unread answers
}

type tally map[string]int

func (t tally) total() int {
	sum := 0
	for _, n := range t {
		sum += n
	}
	return sum
}

// seconds is a time as the figures show it.
type seconds float64

type phase struct {
	Name string  `json:"name"`
	Took seconds `json:"seconds"`

	began time.Time
}

type faultFigures struct {
	Name    string `json:"name"`
	Planned int    `json:"planned"`
	Fired   int    `json:"fired"`
	Met     int    `json:"met_work"` // fired while there was work under way there
	Work    int    `json:"work_met"` // calls or requests under way, in all
	Error   string `json:"error,omitempty"`
}

// clock begins the phase that ends with what name says; the one before is over.
func (f *figures) clock(name string) {
	now := time.Now()
	if n := len(f.Phases); n > 0 {
		last := &f.Phases[n-1]
		last.Took = seconds(now.Sub(last.began).Seconds())
	}
	f.Phases = append(f.Phases, phase{Name: name, began: now})
}

func (f *figures) faults(plan []*kind, w *world) {
	for _, k := range plan {
		last, _ := k.last.Load().(string)
		f.Faults = append(f.Faults, faultFigures{
			Name: k.name, Planned: len(k.plan), Fired: int(k.fired.Load()), Met: int(k.met.Load()), Work: int(k.work.Load()), Error: last,
		})
	}
	for _, p := range w.onejobs() {
		f.GaveUp += int(p.gaveUp.Load())
	}
	f.Toxics = w.poisoned
	f.RedisAway = seconds(w.redisAway.Seconds())
}

// count reads the stories.
func (f *figures) count(stories map[string]*story) {
	f.Calls, f.Answers, f.Ends, f.Unknown, f.Settled = tally{}, tally{}, tally{}, tally{}, tally{}
	f.Late, f.Modes, f.Presses = tally{}, tally{}, tally{}
	for _, s := range stories {
		f.countCalls(s)
		f.countTrail(s)
		f.Ends[string(s.Job.State)]++
		f.Attempts += len(s.Job.Attempts)
		f.countLedger(s)
	}
}

func (f *figures) countCalls(s *story) {
	for i := range s.Calls {
		c := &s.Calls[i]
		f.Calls[c.Kind]++
		switch {
		case c.Status == 0:
			f.Answers["none"]++
		case c.Replayed:
			f.Answers["replayed"]++
		case c.Problem.Name != "":
			f.Answers[c.Problem.Name]++
		default:
			f.Answers["done"]++
		}
	}
}

// countTrail tells how long attempts were running, how they became unknown, and how they
// were settled.
func (f *figures) countTrail(s *story) {
	claimed := map[int]jobs.Time{}
	for _, e := range s.Trail {
		if e.Attempt > 0 && e.From != e.To && e.To == string(jobs.AttemptRunning) {
			claimed[e.Attempt] = e.At
		}
		if at, was := claimed[e.Attempt]; was && e.From != e.To && e.From == string(jobs.AttemptRunning) {
			f.countRunning(s.Job.ID, e.At.Go().Sub(at.Go()))
		}
		switch {
		case e.Attempt == 0: // about the job
		case e.To == string(jobs.AttemptUnknown) && e.From != e.To:
			f.Unknown[e.Reason]++
		case e.From == string(jobs.AttemptUnknown) && e.To != "" && e.From != e.To:
			f.Settled[settledBy(e)+", "+e.To]++
		}
	}
	for _, a := range s.Job.Attempts {
		if a.LateResult != nil {
			f.Late[a.LateResult.Reason]++
		}
	}
}

func (f *figures) countRunning(job string, lasted time.Duration) {
	if took := seconds(lasted.Seconds()); took > f.Longest {
		f.Longest, f.LongestOf = took, job
	}
	if lasted > withoutOutages {
		f.Overlong++
	}
}

func settledBy(e jobs.Event) string {
	who, _, _ := strings.Cut(e.Actor, ":")
	switch {
	case who == "worker":
		return "late answer"
	case who == "reconciler":
		return "look-up"
	case e.To == string(jobs.AttemptCancelled):
		return "caller"
	case e.Verb == "resolve":
		return "operator"
	}
	return e.Verb + " by " + who
}

func (f *figures) countLedger(s *story) {
	for _, e := range s.Ledger {
		if e.Kind == "create" {
			f.Modes[e.Mode]++
			f.Presses[e.Press]++
		}
		if e.Result == "" {
			continue
		}
		f.Effects++
		if string(s.Job.Result) != resultJSON(e.Result) {
			f.Unused++
		}
	}
}

// print shows the figures, and writes them to the file that ONEJOB_CHAOS_JSON names.
func (f *figures) print(t *testing.T) {
	t.Helper()
	f.clock("over")
	f.Phases = f.Phases[:len(f.Phases)-1]
	fmt.Fprint(os.Stderr, f.table())
	path := os.Getenv(jsonEnv)
	if path == "" {
		return
	}
	whole, err := json.MarshalIndent(f, "", "  ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(whole, '\n'), 0o600))
}
