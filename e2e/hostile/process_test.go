package hostile

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// figures are what a process holds.
type figures struct {
	goroutines, files int
	rss               int64 // bytes
	heap              int64 // bytes in use, after a collection
}

func (f figures) String() string {
	return fmt.Sprintf("%d goroutines, %d open files, %d MiB resident, %d MiB of heap", f.goroutines, f.files, f.rss>>20, f.heap>>20)
}

// holds asks the process and the system what it holds now.
func (s *server) holds() figures {
	s.t.Helper()
	var f figures
	for range 3 { // collects; pools give up what they hold at the second time
		s.profile("heap?gc=1&debug=1")
	}
	first, _, _ := strings.Cut(s.profile("goroutine?debug=1"), "\n")
	_, err := fmt.Sscanf(first, "goroutine profile: total %d", &f.goroutines)
	require.NoError(s.t, err, first)
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.pid))
	require.NoError(s.t, err)
	f.files = len(files)
	f.rss = s.resident()
	response, err := direct.Get("http://" + s.admin + "/metrics")
	require.NoError(s.t, err)
	for line := range strings.Lines(string(read(s.t, response))) {
		if value, ok := strings.CutPrefix(line, "go_memstats_heap_inuse_bytes "); ok {
			heap, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			require.NoError(s.t, err)
			f.heap = int64(heap)
		}
	}
	return f
}

func (s *server) profile(name string) string {
	s.t.Helper()
	response, err := direct.Get("http://" + s.admin + "/debug/pprof/" + name)
	require.NoError(s.t, err)
	return string(read(s.t, response))
}

// resident is the memory the process has of the system, in bytes.
func (s *server) resident() int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	kib, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	n, _ := strconv.ParseInt(string(kib), 10, 64)
	return n << 10
}

// watchMemory returns a function that stops watching and says the most there was.
func (s *server) watchMemory() func() int64 {
	stop, most := make(chan struct{}), make(chan int64)
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		peak := s.resident()
		for {
			select {
			case <-tick.C:
				peak = max(peak, s.resident())
			case <-stop:
				most <- peak
				return
			}
		}
	}()
	return func() int64 { close(stop); return <-most }
}

// Room for what comes and goes by itself: the pool of connections to Redis, and
// those of a call that is being made.
const (
	roomGoroutines = 20
	roomFiles      = 30
)

// settlesAt waits until the process holds no more than before.
func (s *server) settlesAt(base figures) figures {
	s.t.Helper()
	var now figures
	s.eventually(fmt.Sprintf("it holds what it held (%s)", base), func() bool {
		now = s.holds()
		ok := now.goroutines <= base.goroutines+roomGoroutines && now.files <= base.files+roomFiles
		if !ok {
			s.t.Logf("not yet: %s", now)
		}
		return ok
	})
	return now
}

func read(t *testing.T, response *http.Response) []byte {
	t.Helper()
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return body
}
