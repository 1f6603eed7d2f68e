package demo

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRun_EveryPromiseHolds: the four fractures, played against a process.
func TestRun_EveryPromiseHolds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var told bytes.Buffer
	require.NoError(t, Run(ctx, &told, nil), told.String())
	require.Equal(t, len(scenes), strings.Count(told.String(), " · "))
	require.GreaterOrEqual(t, strings.Count(told.String(), "✓"), 3*len(scenes))
	require.NotContains(t, told.String(), "BROKEN")
}

// TestPlay_SaysWhatBroke: a promise that does not hold is told as such, and the
// play ends with ErrBroken.
func TestPlay_SaysWhatBroke(t *testing.T) {
	t.Parallel()
	var told bytes.Buffer
	s := &stage{w: &told}
	s.promise(true, "this holds")
	s.promise(false, "%d sheets printed", 2)
	require.Contains(t, told.String(), "BROKEN: 2 sheets printed")
	require.Equal(t, 1, s.broken)
}

// TestRun_GivesUp: without time it ends, and says so.
func TestRun_GivesUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, Run(ctx, &bytes.Buffer{}, nil))
}
