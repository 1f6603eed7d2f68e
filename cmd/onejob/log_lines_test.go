package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// gate is a writer that lets nobody through until it is opened.
type gate struct {
	bytes.Buffer
	open   chan struct{}
	writes int
}

func (g *gate) Write(b []byte) (int, error) {
	<-g.open
	g.writes++
	return g.Buffer.Write(b)
}

// TestLogLines: none is lost or cut, each caller's keep their order, and those that come
// while others are being written go out together.
func TestLogLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		to := &gate{open: make(chan struct{})}
		lines := newLogLines(to)
		const callers, each = 20, 50
		var all sync.WaitGroup
		for caller := range callers {
			all.Go(func() {
				for i := range each {
					n, err := fmt.Fprintf(lines, "%d %d\n", caller, i)
					if err != nil || n < 4 {
						t.Errorf("wrote %d, %v", n, err)
					}
				}
			})
		}
		all.Wait()
		close(to.open)
		lines.flush()
		require.LessOrEqual(t, to.writes, 2)
		seen := map[string]int{}
		for line := range strings.Lines(to.String()) {
			caller, i, _ := strings.Cut(strings.TrimSpace(line), " ")
			require.Equal(t, fmt.Sprint(seen[caller]), i, "the order of caller %s", caller)
			seen[caller]++
		}
		require.Len(t, seen, callers)
		for caller, count := range seen {
			require.Equal(t, each, count, "the lines of caller %s", caller)
		}
	})
}

// TestLogLines_WhoeverHasALineWaits while as much as may be is waiting to be written.
func TestLogLines_WhoeverHasALineWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		to := &gate{open: make(chan struct{})}
		lines := newLogLines(to)
		_, _ = lines.Write([]byte("being written\n"))
		synctest.Wait()
		_, _ = lines.Write([]byte(strings.Repeat("x", mostPending) + "\n"))
		waited := true
		go func() {
			_, _ = lines.Write([]byte("the last\n"))
			waited = false
		}()
		synctest.Wait()
		require.True(t, waited, "it was taken in beyond the limit")
		close(to.open)
		synctest.Wait()
		lines.flush()
		require.True(t, strings.HasSuffix(to.String(), "x\nthe last\n"))
	})
}
