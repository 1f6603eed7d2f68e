package recovery

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/providers"
	"onejob/redistest"
)

// noted is what an Observer was told.
type noted struct {
	mu        sync.Mutex
	swept     []Swept
	suspected []string
	asked     []string
	settled   []Settled
}

func (n *noted) observer() Observer {
	locked := func(f func()) {
		n.mu.Lock()
		defer n.mu.Unlock()
		f()
	}
	return Observer{
		Swept:     func(s Swept) { locked(func() { n.swept = append(n.swept, s) }) },
		Suspected: func(provider string) { locked(func() { n.suspected = append(n.suspected, provider) }) },
		Asked:     func(provider, said string) { locked(func() { n.asked = append(n.asked, provider+" "+said) }) },
		Settled:   func(s Settled) { locked(func() { n.settled = append(n.settled, s) }) },
	}
}

func watchAndNote(t *testing.T) (*watch, *noted) {
	t.Helper()
	w, n := setup(t, redistest.Mini(t)), &noted{}
	w.options.Observe, w.options.Reconciler.Observe = n.observer(), n.observer()
	return w, n
}

func TestObserver_Sweeps(t *testing.T) {
	t.Parallel()
	w, n := watchAndNote(t)
	w.claim(w.submit("k", 0), -time.Minute)
	w.sweep()
	require.Equal(t, []string{"inkjet"}, n.suspected)
	require.Len(t, n.swept, 1)
	swept := n.swept[0]
	require.NoError(t, swept.Err)
	require.Equal(t, map[string]int{jobs.DueLease: 1}, swept.Taken)
	require.InDelta(t, time.Minute, swept.Lag, float64(10*time.Second))
	require.WithinDuration(t, time.Now(), swept.At, time.Minute)

	w.sweep()
	require.Empty(t, n.swept[1].Taken)
	require.Zero(t, n.swept[1].Lag)
	require.Len(t, n.suspected, 1)

	require.NoError(t, w.rdb.Close())
	require.Error(t, w.Sweep(w.ctx))
	require.Error(t, n.swept[2].Err)
}

// What a look-up said is told as what it is worth, and so is how it ended.
func TestObserver_LookUps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer  providers.Outcome
		said    string
		settled []Settled
	}{
		"done": {
			providers.Success([]byte(`1`), nil), SaidSucceeded,
			[]Settled{{Provider: "inkjet", Outcome: providers.Succeeded}},
		},
		"refused": {
			providers.Refused("no"), SaidFailed,
			[]Settled{{Provider: "inkjet", Outcome: providers.Failed, Reason: providers.ReasonRefused}},
		},
		"at it":           {providers.TakenOn("h"), SaidRunning, nil},
		"not known":       {providers.Absent(), SaidAbsent, nil},
		"cannot be asked": {providers.LookupFailed("connection refused"), SaidNothing, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, n := watchAndNote(t)
			w.asked.answer = c.answer
			w.unknown(jobs.Reminders{Lookup: time.Millisecond})
			w.due("lookup")
			w.sweep()
			require.Equal(t, []string{"inkjet " + c.said}, n.asked)
			require.Equal(t, c.settled, n.settled)
		})
	}
}

// A provider's report that comes too late is told as late.
func TestObserver_LateReports(t *testing.T) {
	t.Parallel()
	w, n := watchAndNote(t)
	id := w.unknown(jobs.Reminders{})
	_, err := w.store.CancelJob(w.ctx, jobs.Decision{JobID: id, Actor: "dev"})
	require.NoError(t, err)
	_, err = w.options.Reconciler.Report(w.ctx, id, 1, providers.Success([]byte(`1`), nil))
	require.NoError(t, err)
	require.Len(t, n.settled, 1)
	require.NotEmpty(t, n.settled[0].Late)
	require.Empty(t, n.asked, "nobody asked")
}
