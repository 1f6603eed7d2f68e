package chaos_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/auth"
	"onejob/redistest"
)

func seedOf(text string) int64 {
	seed, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return rand.Int64N(1_000_000_000) //nolint:gosec // any will do
	}
	return seed
}

// sizes are the jobs and faults of a run: ONEJOB_CHAOS_JOBS of them, 300 if it does not
// say. Faults go with the jobs.
func sizes() (int, quotas) {
	n, err := strconv.Atoi(os.Getenv("ONEJOB_CHAOS_JOBS"))
	if err != nil || n <= 0 {
		n = 300
	}
	share := func(per5000 int) int { return max(1, per5000*n/5000) }
	q := quotas{Worker: share(40), API: share(20), Redis: share(10), Pause: share(10), Toxic: share(20), Provider: share(3)}
	if n >= 100_000 {
		q = quotas{Worker: 500, API: 200, Redis: 100, Pause: 100, Toxic: 100, Provider: 20}
	}
	return n, q
}

func TestChaos(t *testing.T) { //nolint:paralleltest // it wants the machine to itself
	if testing.Short() {
		t.Skip("starts processes")
	}
	redistest.Require(t)
	seed := seedOf(os.Getenv(seedEnv))
	n, q := sizes()
	t.Logf("seed %d, %d jobs, %+v; again: make chaos SEED=%d JOBS=%d", seed, n, q, seed, n)
	w := newWorld(t, seed)
	w.ready()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute+time.Duration(n)*40*time.Millisecond)
	defer cancel()
	h, kinds, submitted := &history{}, w.planned(q), &atomic.Int64{}
	began := time.Now()
	var faults sync.WaitGroup
	for _, k := range kinds {
		faults.Go(func() { k.fire(ctx, submitted, n) })
	}
	go w.progress(ctx, submitted, n, kinds)
	w.submitAll(ctx, h, n, kinds, submitted)
	faults.Wait()
	for _, k := range kinds {
		t.Logf("%s: %d of %d fired, last error %v", k.name, k.fired.Load(), len(k.plan), k.err.Load())
		require.GreaterOrEqual(t, k.fired.Load()*100, int64(len(k.plan))*95, k.name)
	}
	w.ready()
	submittedIn := time.Since(began)
	stories := w.settle(ctx, h, n)
	for _, c := range h.calls {
		stories[c.Key].Calls = append(stories[c.Key].Calls, c)
	}
	w.verdict(stories, n)
	t.Logf("submitted in %v, settled after %v, %d calls", submittedIn.Round(time.Second), time.Since(began).Round(time.Second), len(h.calls))
	out, err := exec.Command(filepath.Join(w.dir, "onejob"), "fsck", "--config", w.config).CombinedOutput()
	require.NoError(t, err, "I11: %s", out)
}

func (w *world) progress(ctx context.Context, submitted *atomic.Int64, n int, kinds []*kind) {
	for began := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Second):
		}
		line := fmt.Sprintf("chaos %v: %d of %d submitted", time.Since(began).Round(time.Second), submitted.Load(), n)
		for _, k := range kinds {
			line += fmt.Sprintf(", %s %d", k.name, k.fired.Load())
		}
		fmt.Fprintln(os.Stderr, line)
	}
}

func (w *world) get(path string, into any) error {
	var last error
	for i := range 40 {
		req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://"+w.direct[i%apis]+path, nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+auth.DevOperatorKey)
		resp, err := w.http.Do(req)
		if err == nil {
			err = json.NewDecoder(resp.Body).Decode(into)
			_ = resp.Body.Close()
			if err == nil && resp.StatusCode == http.StatusOK {
				return nil
			}
			last = fmt.Errorf("%s: %d %w", path, resp.StatusCode, err)
		} else {
			last = err
		}
		<-time.After(250 * time.Millisecond)
	}
	return last
}

func (w *world) ready() {
	w.t.Helper()
	for range w.direct {
		var any map[string]any
		require.NoError(w.t, w.get("/readyz", &any))
	}
}
