package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
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

// slowly is a writer that takes its time for what is first written to it, and tells
// whether somebody else wrote meanwhile.
type slowly struct {
	mu      sync.Mutex
	busy    bool
	between bool
	text    strings.Builder
}

func (s *slowly) Write(b []byte) (int, error) {
	s.mu.Lock()
	first := s.text.Len() == 0
	s.between = s.between || s.busy
	s.busy = true
	s.text.Write(b)
	s.mu.Unlock()
	if first {
		<-time.After(200 * time.Millisecond)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
	return len(b), nil
}

// TestServe_WritesItsLogBeforeItEnds: what a process had to say is there before the
// reason for its end.
func TestServe_WritesItsLogBeforeItEnds(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, taken.Close()) }()
	config := filepath.Join(t.TempDir(), "onejob.yaml")
	require.NoError(t, os.WriteFile(config, []byte("providers: {inkjet: {type: simulated}}\nroutes: {print: {providers: [inkjet]}}\n"), 0o600))
	stderr := &slowly{}
	code := run([]string{
		"serve", "--config", config, "--redis", "redis://" + miniredis.RunT(t).Addr() + "/0", "--addr", taken.Addr().String(),
	}, io.Discard, stderr)
	require.Equal(t, exitFailed, code)
	lines := strings.Split(strings.TrimSpace(stderr.text.String()), "\n")
	require.Greater(t, len(lines), 1, stderr.text.String())
	require.Contains(t, lines[0], "can lose acknowledged jobs")
	require.Contains(t, stderr.text.String(), "\nonejob: ")
	require.False(t, stderr.between, "the end was told while a line was being written")
}
