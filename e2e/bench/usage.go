package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// usage is what a server and its store have used up to a moment.
type usage struct {
	scripts       int64 // that clients had run
	redis, server time.Duration
}

func (b *bench) used(ctx context.Context, s *server) (u usage, err error) {
	if u.scripts, err = s.store.scripts(ctx); err != nil {
		return u, err
	}
	if u.redis, err = cpuTime(s.store.cmd.Process.Pid); err != nil {
		return u, err
	}
	u.server, err = cpuTime(s.cmd.Process.Pid)
	return u, err
}

// scripts is how many scripts and functions Redis was given by clients, asynq's included.
func (s *store) scripts(ctx context.Context) (int64, error) {
	info, err := s.rdb.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, fmt.Errorf("reading what Redis did: %w", err)
	}
	var total int64
	for line := range strings.Lines(info) {
		name, stats, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name != "cmdstat_evalsha" && name != "cmdstat_eval" && name != "cmdstat_fcall" {
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

// trips adds up the server's own count of its round trips (docs/metrics.md).
func (s *server) trips(ctx context.Context) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/metrics", nil)
	if err != nil {
		return 0, fmt.Errorf("asking for metrics: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, fmt.Errorf("asking for metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	var total float64
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), "} ")
		if !strings.HasPrefix(name, "onejob_store_round_trip_seconds_count{") {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, fmt.Errorf("reading metrics: %w", err)
		}
		total += n
	}
	if err := lines.Err(); err != nil {
		return 0, fmt.Errorf("reading metrics: %w", err)
	}
	return total, nil
}
