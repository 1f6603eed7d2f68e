// Package cluster runs onejob on a Redis Cluster of three masters, started from
// redis-server alone. The contract (TestContract_… in e2e and jobs) runs on one, too.
package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"onejob/app"
	"onejob/config"
	"onejob/jobs"
	"onejob/recovery"
	"onejob/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func configuration(t *testing.T, addrs []string) *config.Config {
	t.Helper()
	cfg, err := config.Parse("cluster", fmt.Appendf(nil, `
redis: {url: "redis://%s/?addr=%s&addr=%s", wait_replicas: 0}
drain: 1s
limits: {requests_per_second: 10000, open_jobs: 1000}
providers: {inkjet: {type: simulated, timeout: 5s, deadline: 10s, concurrency: 2}}
routes: {print: {providers: [inkjet]}}
`, addrs[0], addrs[1], addrs[2]), nil, config.WithAddr("127.0.0.1:0"))
	require.NoError(t, err)
	return cfg
}

func submit(ctx context.Context, t *testing.T, addr, key string) jobs.Job {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/v1/jobs", strings.NewReader(`{"route":"print","input":{}}`))
	if err != nil {
		t.Error(err)
		return jobs.Job{}
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer dev-key", "Content-Type": "application/json", "Idempotency-Key": key, "Prefer": "wait=30",
	} {
		request.Header.Set(name, value)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Error(err)
		return jobs.Job{}
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	var job jobs.Job
	if err != nil || response.StatusCode != http.StatusOK || json.Unmarshal(body, &job) != nil {
		t.Errorf("%s: %d %s %v", key, response.StatusCode, body, err)
	}
	return job
}

// TestCluster_ClicksAndFsck: double clicks over all partitions and nodes make one
// job a key, most wait in a line beside the queue and under limits, lists see them all,
// and fsck finds and mends what is wrong on any node.
func TestCluster_ClicksAndFsck(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	rdb := redistest.Cluster(t)
	cfg := configuration(t, rdb.Options().Addrs)
	a := app.New(cfg, app.WithAPI(), app.WithWorker(), app.WithDevKeys())
	require.NoError(t, a.Start(ctx))
	defer func() { require.NoError(t, a.Close()) }()

	const keys = 60
	var ids [keys][2]string
	var clicking sync.WaitGroup
	for k := range keys {
		for click := range 2 {
			clicking.Go(func() { ids[k][click] = submit(ctx, t, a.Addr(), fmt.Sprint("key-", k)).ID })
		}
	}
	clicking.Wait()
	distinct := map[string]bool{}
	for k := range keys {
		require.Equal(t, ids[k][0], ids[k][1])
		distinct[ids[k][0]] = true
	}
	require.Len(t, distinct, keys)

	store := jobs.NewStore(rdb, jobs.Options{})
	defer func() { _ = store.Close() }()
	listed := map[string]bool{}
	for after := ""; ; {
		page, err := store.List(ctx, jobs.Query{Owner: "dev", Limit: 25, After: after})
		require.NoError(t, err)
		for _, job := range page.Jobs {
			listed[job.ID] = true
			require.Equal(t, jobs.Succeeded, job.State)
			require.Len(t, job.Attempts, 1)
		}
		if after = page.Next; !page.HasMore {
			break
		}
	}
	require.Equal(t, distinct, listed)
	open, err := store.OpenJobs(ctx, "dev")
	require.NoError(t, err)
	require.Zero(t, open, "all have ended")

	fsck := func(repair bool) int {
		checked, err := app.Fsck(ctx, cfg, repair, func(recovery.Finding) {})
		require.NoError(t, err)
		require.Equal(t, keys, checked.Jobs)
		return checked.Findings
	}
	require.Zero(t, fsck(false))
	var damaging sync.Mutex
	damaged := map[string]bool{}
	require.NoError(t, rdb.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		indexes, _, err := node.Scan(ctx, 0, "oj:{*}:state:succeeded", 10000).Result()
		if err == nil && len(indexes) > 0 {
			err = node.Del(ctx, indexes[0]).Err()
			damaging.Lock()
			damaged[indexes[0]] = true
			damaging.Unlock()
		}
		return err
	}))
	found := fsck(true)
	require.GreaterOrEqual(t, found, len(damaged))
	require.Zero(t, fsck(false), "repaired")
}
