package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// commands is how many commands Redis has been given by clients: of those inside
// scripts it counts none.
func (b *bench) commands(ctx context.Context) (int64, error) {
	info, err := b.rdb.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, fmt.Errorf("reading what Redis did: %w", err)
	}
	var total int64
	for line := range strings.Lines(info) {
		name, stats, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || !sentByClients[strings.TrimPrefix(name, "cmdstat_")] {
			continue
		}
		_, calls, _ := strings.Cut(stats, "calls=")
		calls, _, _ = strings.Cut(calls, ",")
		n, err := strconv.ParseInt(calls, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading what Redis did: %w", err)
		}
		total += n
	}
	return total, nil
}

// used is what Redis and a server have used so far.
func (b *bench) used(ctx context.Context, s *server) (u usage, err error) {
	if u.commands, err = b.commands(ctx); err != nil {
		return u, err
	}
	if u.redis, err = cpuTime(b.processes[0].Process.Pid); err != nil {
		return u, err
	}
	u.server, err = cpuTime(s.cmd.Process.Pid)
	return u, err
}

// sentByClients are commands that scripts do not use, and so count round trips.
var sentByClients = map[string]bool{"evalsha": true, "eval": true, "set": false, "wait": true}

// finished waits until so many jobs have succeeded.
func (b *bench) finished(ctx context.Context, count int) error {
	return until(ctx, func(ctx context.Context) error {
		succeeded, err := b.succeeded(ctx)
		if err == nil && succeeded < int64(count) {
			err = fmt.Errorf("%d of %d jobs have succeeded", succeeded, count)
		}
		return err
	})
}

func (b *bench) succeeded(ctx context.Context) (int64, error) {
	pipe := b.rdb.Pipeline()
	var sizes []*redis.IntCmd
	for p := range 64 {
		sizes = append(sizes, pipe.ZCard(ctx, "oj:{"+strconv.Itoa(p)+"}:state:succeeded"))
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

// oneJob submits a job, waits for its end, and reads from the record how long it
// took to be claimed and to end.
func (b *bench) oneJob(ctx context.Context, addr string) (claimed, ended time.Duration, err error) {
	c, err := dial(addr)
	if err != nil {
		return 0, 0, err
	}
	defer c.close()
	began := time.Now()
	_, body, err := c.do(post(nil, "/v1/jobs", newKey(), submitBody))
	if err != nil {
		return 0, 0, err
	}
	id := idIn(string(body))
	for ctx.Err() == nil {
		_, body, err := c.do(get(nil, "/v1/jobs/"+id))
		if err != nil {
			return 0, 0, err
		}
		if strings.Contains(string(body), `"state":"succeeded"`) {
			ended = time.Since(began)
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
	}
	_, body, err = c.do(get(nil, "/v1/jobs/"+id+"/events"))
	if err != nil {
		return 0, 0, err
	}
	claimed, err = claimDelay(body)
	return claimed, ended, err
}

// claimDelay is the time between two lines of a trail: the job's and its claim's.
func claimDelay(trail []byte) (time.Duration, error) {
	var events struct {
		Data []struct {
			Verb string    `json:"verb"`
			At   time.Time `json:"at"`
		} `json:"data"`
	}
	if err := json.Unmarshal(trail, &events); err != nil {
		return 0, fmt.Errorf("reading a trail: %w", err)
	}
	at := map[string]time.Time{}
	for _, event := range events.Data {
		at[event.Verb] = event.At
	}
	return at["claim"].Sub(at["submit"]), nil
}
