package chaos_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"onejob/auth"
	"onejob/jobs"
)

// call is one request of the history and what was answered; status 0: nobody answered.
type call struct {
	Key, Kind  string
	Path, Body string // what was asked
	IfMatch    int64  // the version it was asked for; 0: any
	Start, End time.Time
	Status     int
	Replayed   bool    // Idempotent-Replayed
	Problem    problem // of a refusal
	Broken     string  // what is wrong with the answer itself
	Job        told
}

// history is every call that was made, whoever made it.
type history struct {
	mu    sync.Mutex
	calls []call
}

func (w *world) ask(h *history, api int, kind, key, method, path, body string) call {
	c := call{Key: key, Kind: kind, Path: path, Body: body, Start: time.Now()}
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+w.apiAddrs[api%apis]+path, strings.NewReader(body))
	if err == nil {
		req.GetBody = nil // every call is one request
		role := auth.DevKey
		if kind == "resolve" {
			role = auth.DevOperatorKey
		}
		req.Header.Set("Authorization", "Bearer "+role)
		req.Header.Set("Content-Type", "application/json")
		if method == http.MethodPost && path == "/v1/jobs" {
			req.Header.Set("Idempotency-Key", key)
		}
		if resp, err := w.http.Do(req); err == nil {
			raw, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err == nil {
				_ = c.hear(resp, raw) // what cannot be read is no answer
			}
		}
	}
	c.End = time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, c)
	return c
}

// until repeats a call, at the other API each time, until somebody answers.
func (w *world) until(ctx context.Context, h *history, api int, kind, key, method, path, body string) call {
	for {
		c := w.ask(h, api, kind, key, method, path, body)
		if c.Status != 0 && c.Status < 500 || ctx.Err() != nil {
			return c
		}
		api++
		<-time.After(50 * time.Millisecond)
	}
}

func (w *world) dice(key, of string) int {
	f := fnv.New32a()
	_, _ = fmt.Fprintf(f, "%d/%s/%s", w.seed, key, of)
	return int(f.Sum32()>>8) % 100
}

// oneJob is what one caller does about one key.
func (w *world) oneJob(ctx context.Context, h *history, i int) {
	key := fmt.Sprintf("key-%d", i)
	body := func(word string) string {
		return fmt.Sprintf(`{"route":"print","input":{"key":%q,"word":%q}}`, key, word)
	}
	var clicks sync.WaitGroup
	if w.dice(key, "double") < 30 {
		clicks.Go(func() { w.until(ctx, h, i+1, "submit", key, http.MethodPost, "/v1/jobs", body("a")) })
	}
	c := w.until(ctx, h, i, "submit", key, http.MethodPost, "/v1/jobs", body("a"))
	clicks.Wait()
	if c.Job.ID == "" {
		return
	}
	path := "/v1/jobs/" + c.Job.ID
	if w.dice(key, "other") < 10 {
		w.until(ctx, h, i+1, "other", key, http.MethodPost, "/v1/jobs", body("b"))
	}
	if w.dice(key, "cancel") < 5 {
		w.until(ctx, h, i+1, "cancel", key, http.MethodPost, path+"/cancel", `{"reason":"chaos"}`)
	}
	if w.dice(key, "get") < 40 {
		w.ask(h, i, "get", key, http.MethodGet, path, "")
	}
	if w.dice(key, "again") < 20 {
		w.ask(h, i+1, "submit", key, http.MethodPost, "/v1/jobs", body("a"))
	}
}

// submitAll has callers submit n jobs and keeps them from running ahead of the faults.
func (w *world) submitAll(ctx context.Context, h *history, n int, kinds []*kind, submitted *atomic.Int64) {
	next := atomic.Int64{}
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n) && ctx.Err() == nil; i = next.Add(1) {
				for _, k := range kinds {
					for k.behind(submitted.Load(), n) && ctx.Err() == nil {
						<-time.After(20 * time.Millisecond)
					}
				}
				w.oneJob(ctx, h, int(i))
				submitted.Add(1)
			}
		})
	}
	all.Wait()
}

// operate settles one unknown job as an operator who looks into the ledger does: once no
// create of the attempt can be taken any more, what the ledger says is the truth.
func (w *world) operate(ctx context.Context, h *history, job *jobs.Job, ledger map[string]string) {
	for _, a := range job.Attempts {
		if a.State != jobs.AttemptUnknown || time.Since(a.UnknownAt.Go()) < 4*time.Second {
			continue
		}
		body := `{"outcome":"failed","reason":"not in the ledger","then":"continue"}`
		if result := ledger[a.ID]; result != "" {
			body = fmt.Sprintf(`{"outcome":"succeeded","reason":"in the ledger","result":%s}`, resultJSON(result))
		}
		w.until(ctx, h, a.Number, "resolve", job.IdempotencyKey, http.MethodPost, fmt.Sprintf("/v1/jobs/%s/attempts/%d/resolve", job.ID, a.Number), body)
	}
}
