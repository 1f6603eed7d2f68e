package providers

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLeavingAsksEveryTimeAndNotesTheFirst(t *testing.T) {
	t.Parallel()
	asked := 0
	w := NewWire(func() error { asked++; return nil })
	require.True(t, w.LastActivity().IsZero())
	require.NoError(t, w.Leaving())
	first := w.Evidence().SentAt
	require.NoError(t, w.Leaving())
	require.Equal(t, 2, asked)
	require.Equal(t, first, w.Evidence().SentAt)
	require.Equal(t, first, w.LastActivity())
	select {
	case <-w.Sent():
	default:
		require.Fail(t, "Sent is closed once the first byte was let out")
	}
}

func TestLeavingRefused(t *testing.T) {
	t.Parallel()
	no := errors.New("no")
	w := NewWire(func() error { return no })
	require.ErrorIs(t, w.Leaving(), no)
	require.False(t, w.Seal())
	require.Equal(t, no, w.refusal())
	select {
	case <-w.Sent():
		require.Fail(t, "nothing was sent")
	default:
	}
}

// Seal and Leaving race for real: whoever comes first, "nothing left" is never
// said of a call that then leaves.
func TestSealIsProof(t *testing.T) {
	t.Parallel()
	for range 500 {
		w := NewWire(nil)
		var (
			wg      sync.WaitGroup
			left    bool
			leaving error
		)
		wg.Go(func() { leaving = w.Leaving() })
		wg.Go(func() { left = w.Seal() })
		wg.Wait()
		require.Equal(t, left, leaving == nil)
		require.ErrorIs(t, w.Leaving(), errSealed)
	}
}

func TestUnwritten(t *testing.T) {
	t.Parallel()
	w := NewWire(nil)
	require.NoError(t, w.Leaving())
	w.Wrote(10)
	w.Wrote(-10)
	w.Unwritten()
	require.True(t, w.unsent())
	require.NoError(t, w.Leaving(), "another connection may take it")
	w.Wrote(1)
	w.Unwritten()
	require.False(t, w.unsent(), "a byte cannot be taken back")
}

func TestReadCountsAnswersOnly(t *testing.T) {
	t.Parallel()
	w := NewWire(nil)
	w.Read(500) // a TLS session ticket
	require.Zero(t, w.Evidence().BytesRead)
	require.True(t, w.Evidence().FirstByteAt.IsZero())

	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	w.now = func() time.Time { at = at.Add(time.Second); return at }
	require.NoError(t, w.Leaving())
	w.Read(2)
	w.Read(0)
	w.Read(3)
	seen := w.Evidence()
	require.EqualValues(t, 5, seen.BytesRead)
	require.Equal(t, seen.SentAt.Add(time.Second), seen.FirstByteAt)
	require.Equal(t, seen.SentAt.Add(2*time.Second), seen.LastByteAt)
	require.Equal(t, seen.LastByteAt, w.LastActivity())
}
