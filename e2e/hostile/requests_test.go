package hostile

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	defaultRequests = 10_000
	defaultClients  = 16 // connections at once
	shownFailures   = 15
)

// Whatever is sent, the process answers as it says it does: by a status of its
// description, with a problem of a known type, never by a mistake of its own. And
// nothing of it stays. REQUESTS, SEED and CLIENTS in the environment say how many
// requests, which, and over how many connections: with so many that Redis has no turn
// within 4 s, the answer is 503, as it should be, and this test fails.
func TestRequests(t *testing.T) { //nolint:paralleltest // it measures the process
	total := int64(number(t, "REQUESTS", defaultRequests))
	seed := number(t, "SEED", uint64(time.Now().UnixNano()))
	t.Logf("SEED=%d REQUESTS=%d", seed, total)
	s := startServer(t, expiring)
	run := newRun(s, seed)
	run.send(2000) // until all that is made once has been made
	run.judged()
	run.rest()
	base := s.holds()
	t.Logf("before: %s", base)

	memory, began := s.watchMemory(), time.Now()
	run.send(total)
	took, peak := time.Since(began), memory()
	run.tell()
	run.judged()
	t.Logf("%d requests in %s (%.0f/s), at most %d MiB resident", total, took.Round(time.Second), float64(total)/took.Seconds(), peak>>20)
	run.rest()
	after := s.settlesAt(base)
	t.Logf("after: %s", after)
	require.Less(t, after.heap, base.heap+64<<20, "the heap has grown")
	require.Less(t, peak, int64(768<<20), "resident memory")
	s.works("in-the-end")
	lines, n := s.log.wrong()
	require.Zero(t, n, "lines that must not be in the log:\n%s", strings.Join(lines, "\n"))
}

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(value, 10, 63)
	require.NoError(t, err, name)
	return n
}

// run is one run of requests, over some connections at once.
type run struct {
	s        *server
	judge    *judge
	authors  []*author
	lines    []*line
	operator session

	mu       sync.Mutex
	failures []string
	failed   int
	statuses map[string]int // by door and status
	silent   int            // what was no request, and got no answer
}

func newRun(s *server, seed uint64) *run {
	s.t.Helper()
	operator, viewer := s.signIn(operatorKey), s.signIn(s.viewerKey)
	r := &run{s: s, judge: &judge{problemNames(s.t)}, operator: operator, statuses: map[string]int{}}
	for i := range 20 {
		s.known.add(kindForeign, s.submit(otherKey, "theirs-"+itoa(i), `{"route":"print","input":1}`))
		s.known.add(kindJob, s.submit(ownKey, "ours-"+itoa(i), `{"route":"bind","input":1}`))
	}
	all := operations(s.t)
	for i := range number(s.t, "CLIENTS", defaultClients) {
		r.authors = append(r.authors, &author{
			rnd: rand.New(rand.NewPCG(seed, i)), known: s.known, addr: s.addr, operations: all,
			keys: []string{ownKey, otherKey, operatorKey, s.viewerKey}, sessions: []session{operator, operator, viewer},
		})
		r.lines = append(r.lines, &line{addr: s.addr, source: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i+1))}})
	}
	return r
}

// send sends so many requests, and judges the answers.
func (r *run) send(total int64) {
	var left atomic.Int64
	left.Store(total)
	var sending sync.WaitGroup
	for i := range r.authors {
		sending.Go(func() {
			seen, silent := map[string]int{}, 0
			for {
				n := left.Add(-1)
				if n < 0 || r.hopeless() {
					break
				}
				if n > 0 && n%100_000 == 0 {
					r.s.t.Logf("%d to go", n)
				}
				request := r.authors[i].next()
				answer, err := r.lines[i].send(request)
				switch {
				case err != nil && request.protocol:
					silent++
					r.lines[i].cut()
				case err != nil:
					r.fail(request, err)
				default:
					seen[door(request)+" "+strconv.Itoa(answer.status)]++
					r.s.known.learn(answer)
					if err := r.judge.check(request, answer); err != nil {
						r.fail(request, err)
					}
				}
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.silent += silent
			for status, n := range seen {
				r.statuses[status] += n
			}
		})
	}
	sending.Wait()
}

func (r *run) hopeless() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed >= shownFailures*20
}

func (r *run) fail(request *request, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed++; len(r.failures) < shownFailures {
		r.failures = append(r.failures, fmt.Sprintf("%v\n    %s", err, request))
	}
}

// judged fails the test with what was wrong.
func (r *run) judged() {
	r.s.t.Helper()
	if r.failed > 0 {
		lines, _ := r.s.log.wrong()
		require.FailNow(r.s.t, fmt.Sprintf("%d wrong answers", r.failed), "%s\nlog:\n%s", strings.Join(r.failures, "\n"), strings.Join(lines, "\n"))
	}
}

// rest hangs up, and lets what has been asked for come to its end.
func (r *run) rest() {
	r.s.t.Helper()
	for _, l := range r.lines {
		l.cut()
	}
	r.s.resumeAll(r.operator)
	r.s.eventually("nothing is under way", func() bool {
		status, body := r.s.try("GET", "/v1/jobs?state=running", operatorKey, "")
		return status == 200 && strings.Contains(string(body), `"data":[]`)
	})
}

// tell lists what was answered, most often first.
func (r *run) tell() {
	names := slices.SortedFunc(maps.Keys(r.statuses), func(a, b string) int { return cmp.Compare(r.statuses[b], r.statuses[a]) })
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s: %d; ", name, r.statuses[name])
	}
	r.s.t.Logf("%sno answer to what was no request: %d", b.String(), r.silent)
}

// door says what a request was meant for.
func door(r *request) string {
	switch {
	case r.op == nil:
		return "pages"
	case strings.HasPrefix(r.op.path, "/openai"):
		return "openai"
	}
	return "api"
}
