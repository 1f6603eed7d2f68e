package chaos_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// Faults come between the first and the last job, in order, and callers wait for one
// that is overdue when the next one is due as well.
func TestPlan_Turns(t *testing.T) {
	t.Parallel()
	k := &kind{plan: make([]fault, 10)}
	const jobs = 1000
	before := int64(0)
	for i := range k.plan {
		turn := k.turn(i, jobs)
		require.Greater(t, turn, before)
		require.Less(t, turn, int64(jobs)*96/100)
		before = turn
	}
	l := &load{jobs: jobs}
	plan := []*kind{{}, k}
	l.submitted.Store(k.turn(1, jobs) - 1)
	require.False(t, behind(plan, l), "one may be under way")
	l.submitted.Store(k.turn(1, jobs))
	require.True(t, behind(plan, l))
	k.done.Store(1)
	require.False(t, behind(plan, l))
	k.done.Store(10)
	l.submitted.Store(jobs)
	require.False(t, behind(plan, l), "all are over")
}

// All faults of a plan fire, in their order, and those that fail are told.
func TestPlan_Fires(t *testing.T) {
	t.Parallel()
	l := &load{jobs: 100}
	var fired []int64
	k := &kind{}
	for i := range 5 {
		k.plan = append(k.plan, func(context.Context) (int, error) {
			fired = append(fired, l.submitted.Load())
			if i == 3 {
				return 0, context.DeadlineExceeded
			}
			return i, nil
		})
	}
	done := make(chan struct{})
	go func() { defer close(done); k.fire(t.Context(), l) }()
	l.submitted.Store(k.turn(4, l.jobs))
	<-done
	require.Len(t, fired, 5)
	require.EqualValues(t, 4, k.fired.Load())
	require.EqualValues(t, 3, k.met.Load())
	require.EqualValues(t, 7, k.work.Load())
	require.EqualValues(t, 5, k.done.Load())
	require.Contains(t, k.last.Load(), "4 of 5")
}
