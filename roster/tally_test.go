package roster_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/roster"
)

func filled(t *roster.Tally, at time.Time) roster.Provider {
	p := roster.Provider{Name: "gpt"}
	t.Fill(&p, at)
	return p
}

func TestTally_CountsTheLastFiveMinutes(t *testing.T) {
	t.Parallel()
	var tally roster.Tally
	require.Equal(t, roster.Provider{Name: "gpt"}, filled(&tally, began))

	tally.Ended(began, roster.Succeeded, "", 10*time.Millisecond)
	tally.Ended(began.Add(2*time.Minute), roster.Failed, "busy", 20*time.Millisecond)
	tally.Ended(began.Add(4*time.Minute), roster.Unknown, "timeout", 30*time.Millisecond)
	p := filled(&tally, began.Add(4*time.Minute))
	require.Equal(t, []int{3, 1, 1, 1}, []int{p.Calls, p.Succeeded, p.Failed, p.Unknown})
	require.Equal(t, &roster.LastError{Reason: "timeout", At: began.Add(4 * time.Minute)}, p.LastError)

	p = filled(&tally, began.Add(5*time.Minute+10*time.Second))
	require.Equal(t, []int{2, 0, 1, 1}, []int{p.Calls, p.Succeeded, p.Failed, p.Unknown})
	// A slot that comes round is emptied before it is used.
	tally.Ended(began.Add(7*time.Minute), roster.Succeeded, "", 0)
	p = filled(&tally, began.Add(7*time.Minute))
	require.Equal(t, []int{2, 1, 0, 1}, []int{p.Calls, p.Succeeded, p.Failed, p.Unknown})
	p = filled(&tally, began.Add(time.Hour))
	require.Zero(t, p.Calls)
	require.Equal(t, "timeout", p.LastError.Reason, "a success since then does not hide what went wrong last")
}

func TestTally_Percentiles(t *testing.T) {
	t.Parallel()
	var tally roster.Tally
	for i := range 1000 { // of which the last 200 count: 801 to 1000 ms
		tally.Ended(began, roster.Succeeded, "", time.Duration(i+1)*time.Millisecond)
	}
	p := filled(&tally, began)
	require.EqualValues(t, 900, p.P50MS)
	require.EqualValues(t, 990, p.P95MS)

	var one roster.Tally
	one.Ended(began, roster.Failed, "busy", 7*time.Millisecond)
	p = filled(&one, began)
	require.EqualValues(t, 7, p.P50MS)
	require.EqualValues(t, 7, p.P95MS)
}

func TestTally_CallsInFlight(t *testing.T) {
	t.Parallel()
	var tally roster.Tally
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			tally.Began()
			defer tally.Left()
			tally.Ended(began, roster.Succeeded, "", time.Millisecond)
		})
	}
	calls.Wait()
	require.Zero(t, tally.InFlight())
	tally.Began()
	require.Equal(t, 1, filled(&tally, began).InFlight)
	require.Equal(t, 50, filled(&tally, began).Calls)
}
