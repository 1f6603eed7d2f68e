package witness

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"onejob/auth"
	"onejob/jobs"
)

// Load is callers who submit jobs of their own, some of them twice, and look at them
// now and then.
type Load struct {
	Witness *Witness
	APIs    []string // addresses
	Seed    uint64
	// Pause is how long a caller waits between two jobs, about. Defaults to none.
	Pause time.Duration

	http http.Client
	next atomic.Int64
}

// Close gives the connections back.
func (l *Load) Close() { l.http.CloseIdleConnections() }

// Start has n callers at work until stop is called, or ctx ends. Whoever has not been
// answered by then goes away.
func (l *Load) Start(ctx context.Context, n int) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var callers sync.WaitGroup
	for range n {
		callers.Go(func() {
			for ctx.Err() == nil {
				l.oneJob(ctx)
			}
		})
	}
	return func() {
		cancel()
		callers.Wait()
	}
}

// Burst has n callers submit one job each at once, and returns when all of them are
// acknowledged.
func (l *Load) Burst(ctx context.Context, n int) {
	var callers sync.WaitGroup
	for range n {
		callers.Go(func() {
			i := l.next.Add(1)
			l.Submit(ctx, fmt.Sprintf("key-%d", i), l.body(i), int(i))
		})
	}
	callers.Wait()
}

// dice are the same for the same job of the same seed.
func (l *Load) dice(i int64) *rand.Rand {
	return rand.New(rand.NewPCG(l.Seed, uint64(i)))
}

func (l *Load) oneJob(ctx context.Context) {
	i := l.next.Add(1)
	dice := l.dice(i)
	body := l.body(i)
	key := fmt.Sprintf("key-%d", i)
	var twice sync.WaitGroup
	if dice.IntN(100) < 15 { // a double click
		twice.Go(func() { l.Submit(ctx, key, body, int(i)+1) })
	}
	id := l.Submit(ctx, key, body, int(i))
	twice.Wait()
	pause(ctx, l.Pause/2+time.Duration(dice.Int64N(int64(l.Pause)+1)))
	if id == "" {
		return
	}
	if dice.IntN(100) < 30 {
		l.ask(ctx, http.MethodGet, int(i), "/v1/jobs/"+id, "", "")
	}
	if dice.IntN(100) < 10 { // not sure whether it worked
		l.Submit(ctx, key, body, int(i)+1)
	}
}

// body is the request of a job: most are printed at once.
func (l *Load) body(i int64) string {
	dice := l.dice(-i)
	mode := ModePrint
	switch n := dice.IntN(100); {
	case n < 20:
		mode = ModeSlow
	case n < 32:
		mode = ModeBusy
	case n < 35:
		mode = ModeRefuse
	case n < 40:
		mode = ModeCut
	}
	return fmt.Sprintf(`{"route":"print","input":{"key":"key-%d","mode":%q,"ms":%d}}`, i, mode, 50+dice.IntN(600))
}

// Again has the caller of a job submit it once more, the same key and body, and gives
// the id of the job that holds the key now.
func (l *Load) Again(ctx context.Context, key string) string {
	var i int64
	if _, err := fmt.Sscanf(key, "key-%d", &i); err != nil {
		return ""
	}
	return l.Submit(ctx, key, l.body(i), int(i))
}

// again is the pause before a request that nobody answered is sent again.
const again = 50 * time.Millisecond

// Submit submits until it is acknowledged, at another API each time, and gives the
// job's id; empty: ctx ended first.
func (l *Load) Submit(ctx context.Context, key, body string, api int) string {
	for ctx.Err() == nil {
		if id := l.ask(ctx, http.MethodPost, api, "/v1/jobs", key, body); id != "" {
			return id
		}
		api++
		pause(ctx, again)
	}
	return ""
}

// ask makes one request; the witness remembers a job that is answered.
func (l *Load) ask(ctx context.Context, method string, api int, path, key, body string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	s := Sight{Start: time.Now(), Era: l.Witness.now()}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+l.APIs[api%len(l.APIs)]+path, strings.NewReader(body))
	if err != nil {
		return ""
	}
	req.GetBody = nil // one call is one request
	req.Header.Set("Authorization", "Bearer "+auth.DevKey)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := l.http.Do(req)
	if err != nil {
		return ""
	}
	raw, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if key != "" && resp.StatusCode >= 400 && resp.StatusCode < 500 {
		l.Witness.wonders(fmt.Sprintf("submitting %s was answered %d: %s", key, resp.StatusCode, raw))
	}
	var job jobs.Job
	if err != nil || resp.StatusCode > 202 || json.Unmarshal(raw, &job) != nil {
		return ""
	}
	s.End, s.Job = time.Now(), job
	l.Witness.saw(key, s)
	return job.ID
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
