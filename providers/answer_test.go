package providers

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBounded(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]error{0: nil, 9: nil, 10: ErrOversize, 1000: ErrOversize} {
		got, err := io.ReadAll(Bounded(strings.NewReader(strings.Repeat("x", size)), 10))
		require.ErrorIs(t, err, want, size)
		require.Len(t, got, min(size, 10))
	}
}

func TestReadAnswerBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, size int
		limit        int64
		oversize     bool
		kept         int
	}{
		{200, 10, 10, false, 10},
		{200, 11, 10, true, 10},
		{200, maxRefusal + 1, MaxResult, false, maxRefusal + 1},
		{500, maxRefusal, MaxResult, false, maxRefusal},
		{500, maxRefusal + 1, MaxResult, true, maxRefusal},
	} {
		a := ReadAnswer(&http.Response{
			StatusCode: c.status,
			Body:       io.NopCloser(strings.NewReader(strings.Repeat("x", c.size))),
		}, c.limit)
		require.NoError(t, a.Err)
		require.Equal(t, c.oversize, a.Oversize)
		require.Len(t, a.Body, c.kept)
	}
}
