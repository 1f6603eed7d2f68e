package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/auth"
	"onejob/e2e/process"
	"onejob/jobs"
)

// callers is how many submit at once, each again as soon as it is answered.
const callers = 64

// submitFor has callers submit for a while, at the providers in turns, and tells how
// many jobs there are.
func submitFor(ctx context.Context, addr string, providers []string, duration time.Duration) (int, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}, Timeout: 30 * time.Second}
	defer client.CloseIdleConnections()
	var (
		count  atomic.Int64
		failed atomic.Pointer[error]
		all    sync.WaitGroup
	)
	end := time.Now().Add(duration)
	for range callers {
		all.Go(func() {
			for ctx.Err() == nil && time.Now().Before(end) && failed.Load() == nil {
				n := count.Add(1)
				if err := submit(ctx, client, addr, providers[int(n)%len(providers)]); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return int(count.Load()), nil
}

func submit(ctx context.Context, client *http.Client, addr, provider string) error {
	body := bytes.NewReader([]byte(`{"route":"print","provider":"` + provider + `","input":{"page":"Hello"}}`))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/v1/jobs", body)
	if err != nil {
		return fmt.Errorf("submitting: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+auth.DevKey)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", rand.Text())
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("submitting: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return fmt.Errorf("submitting: %w", err)
	}
	if response.StatusCode != http.StatusAccepted {
		return fmt.Errorf("submitting: answered %d", response.StatusCode)
	}
	return nil
}

// succeeded is how many jobs have.
func succeeded(ctx context.Context, rdb redis.UniversalClient) (int64, error) {
	pipe := rdb.Pipeline()
	sizes := make([]*redis.IntCmd, jobs.Partitions)
	for p := range sizes {
		sizes[p] = pipe.ZCard(ctx, "oj:{"+strconv.Itoa(p)+"}:state:succeeded")
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, fmt.Errorf("counting jobs: %w", err)
	}
	var total int64
	for _, size := range sizes {
		total += size.Val()
	}
	return total, nil
}

// finished waits until so many have.
func finished(ctx context.Context, rdb redis.UniversalClient, count int) error {
	return process.Until(ctx, startTime, func(ctx context.Context) error {
		n, err := succeeded(ctx, rdb)
		if err == nil && n < int64(count) {
			err = fmt.Errorf("%d of %d jobs have succeeded", n, count)
		}
		return err
	})
}

// ownTime is the processor time of this program.
func ownTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
