package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/app"
	"onejob/jobs"
)

// TestContract_DoubleClick: a thousand concurrent POSTs of one intent over two
// API processes make one job, one attempt, one create (I7, I2).
func TestContract_DoubleClick(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		const clicks = 1000
		f := newFloor(t, rdb, 10*time.Second)
		apis := []*caller{f.caller(f.start(app.WithAPI()).Addr()), f.caller(f.start(app.WithAPI()).Addr())}
		f.start(app.WithWorker())

		answers := make([]answer, clicks)
		errs := make([]error, clicks)
		ready := make(chan struct{})
		var clicking sync.WaitGroup
		for i := range clicks {
			clicking.Go(func() {
				<-ready
				answers[i], errs[i] = click(apis[i%2])
			})
		}
		close(ready)
		f.shop.next().answer(http.StatusOK, `{"sheets":1}`)
		clicking.Wait()

		ids, first := map[string]int{}, 0
		for i, a := range answers {
			require.NoError(t, errs[i])
			require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, a.status, a.body)
			require.Equal(t, "/v1/jobs/"+a.job.ID, a.header.Get("Location"))
			ids[a.job.ID]++
			if a.header.Get("Idempotent-Replayed") == "" {
				first++
			}
		}
		require.Len(t, ids, 1)
		// One request made the job. Its answer can have been a 503, on a machine too
		// slow for a thousand at once; then it was sent again, and found its job.
		if !strings.Contains(f.log.String(), "store-unavailable") {
			require.Equal(t, 1, first)
		}
		require.LessOrEqual(t, first, 1)

		done := apis[1].untilState(answers[0].job.ID, jobs.Succeeded)
		require.Len(t, done.Attempts, 1)
		require.JSONEq(t, `{"sheets":1}`, string(done.Result))
		require.Equal(t, map[string]int{done.Attempts[0].ID: 1}, f.shop.created())
		f.shop.none()

		var page struct {
			Data []json.RawMessage `json:"data"`
		}
		require.NoError(t, json.Unmarshal([]byte(apis[0].must(http.MethodGet, "/v1/jobs", "").body), &page))
		require.Len(t, page.Data, 1)
		require.Len(t, keys(f.ctx, t, rdb, "oj:*:job:*"), 1)
	})
}

// click posts until the store could be asked: a 503 says to send the same request
// again with the same key.
func click(c *caller) (answer, error) {
	for {
		a, err := c.call(http.MethodPost, "/v1/jobs", page1, "Idempotency-Key", "click")
		if err != nil || a.status != http.StatusServiceUnavailable {
			return a, err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-c.ctx.Done():
			return a, c.ctx.Err()
		}
	}
}
