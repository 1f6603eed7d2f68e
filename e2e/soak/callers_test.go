package soak_test

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

// load is what callers have asked for and got.
type load struct {
	submitted, acknowledged, ended atomic.Int64

	mu     sync.Mutex
	states map[jobs.State]int
	slow   time.Duration // the longest a job took, as its caller saw it
	wrong  []string
}

func (l *load) fail(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
}

func (l *load) end(job *jobs.Job, took time.Duration) {
	l.ended.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states[job.State]++
	l.slow = max(l.slow, took)
}

// patience is how long a caller waits for the end of his job.
const patience = 2 * time.Minute

// submitAll starts a caller at every tick, whether or not those before have got what
// they wanted, and returns when all have.
func (w *world) submitAll(ctx context.Context, l *load) {
	var callers sync.WaitGroup
	began := time.Now()
	for n := 0; time.Since(began) < w.plan.load && ctx.Err() == nil; n++ {
		due := began.Add(time.Duration(n) * time.Second / time.Duration(w.plan.rate))
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(due)):
			callers.Go(func() { w.oneCaller(ctx, l, n) })
		}
	}
	callers.Wait()
}

// oneCaller wants one job done: most wait for it on the line, some come back to look,
// some click twice, some watch its events and hang up in between.
func (w *world) oneCaller(ctx context.Context, l *load, n int) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	key := fmt.Sprintf("key-%d-%d", w.plan.seed, n)
	dice := rand.New(rand.NewPCG(uint64(w.plan.seed), uint64(n))).IntN(100)
	l.submitted.Add(1)
	began := time.Now()
	var clicks sync.WaitGroup
	if dice < 5 {
		clicks.Go(func() { _, _ = w.submit(ctx, n+1, key, "") })
	}
	prefer := "wait=20"
	if dice >= 60 {
		prefer = ""
	}
	job, err := w.submit(ctx, n, key, prefer)
	clicks.Wait()
	if err != nil {
		l.fail("%s was never acknowledged: %v", key, err)
		return
	}
	l.acknowledged.Add(1)
	if dice >= 95 {
		w.watch(ctx, n, job.ID)
	}
	id := job.ID
	for !job.State.Ended() {
		if job, err = w.look(ctx, n, id); err != nil {
			l.fail("%s (%s): %v", key, id, err)
			return
		}
	}
	if job.State == jobs.Succeeded && string(job.Result) != sheet(key) {
		l.fail("%s (%s) has the result %s", key, id, job.Result)
	}
	l.end(job, time.Since(began))
}

// submit posts, at the other API each time, until somebody answers.
func (w *world) submit(ctx context.Context, api int, key, prefer string) (*jobs.Job, error) {
	body := `{"route":"print","input":{"key":"` + key + `","page":"` + strings.Repeat("x", 500) + `"}}`
	for {
		job, status, err := w.ask(ctx, api, http.MethodPost, "/v1/jobs", body, map[string]string{"Idempotency-Key": key, "Prefer": prefer})
		if err == nil && status < 500 {
			return job, refused(job, status)
		}
		if !pause(ctx, 50*time.Millisecond) {
			return nil, fmt.Errorf("the last answer was %d: %w", status, err)
		}
		api++
	}
}

// look reads a job once somebody answers.
func (w *world) look(ctx context.Context, api int, id string) (*jobs.Job, error) {
	for {
		if !pause(ctx, 500*time.Millisecond) {
			return nil, fmt.Errorf("has not ended: %w", ctx.Err())
		}
		job, status, err := w.ask(ctx, api, http.MethodGet, "/v1/jobs/"+id, "", nil)
		if err == nil && status < 500 {
			return job, refused(job, status)
		}
		api++
	}
}

func refused(job *jobs.Job, status int) error {
	if status >= 300 || job.ID == "" {
		return fmt.Errorf("answered %d", status)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (w *world) ask(ctx context.Context, api int, method, path, body string, header map[string]string) (*jobs.Job, int, error) {
	ctx, cancel := context.WithTimeout(ctx, 25*time.Second)
	defer cancel()
	response, err := w.call(ctx, api, method, path, body, header)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	job := &jobs.Job{}
	if err == nil && response.StatusCode < 300 {
		err = json.Unmarshal(raw, job)
	}
	return job, response.StatusCode, err
}

func (w *world) call(ctx context.Context, api int, method, path, body string, header map[string]string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+w.callers[api%len(w.callers)]+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.GetBody = nil // every call is one request
	request.Header.Set("Authorization", "Bearer "+auth.DevKey)
	request.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	return w.http.Do(request)
}

// watch follows a job's events for a moment and hangs up, whatever has come by then.
func (w *world) watch(ctx context.Context, api int, id string) {
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	response, err := w.call(ctx, api, http.MethodGet, "/v1/jobs/"+id+"/events", "", map[string]string{"Accept": "text/event-stream"})
	if err != nil {
		return
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, response.Body)
}
