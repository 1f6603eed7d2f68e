package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// weighed is how many jobs are weighed; one of them is too little to tell from what
// else Redis holds.
const weighed = 10_000

// weighedBody has an input of one kilobyte, which the provider gives back as the
// result.
var weighedBody = fmt.Sprintf(`{"route":"print","input":{"text":%q}}`, strings.Repeat("x", 1024-len(`{"text":""}`)))

// memoryOfJobs takes what Redis holds before and after so many jobs, while they wait
// and when they have ended: records, indexes, reminders, and asynq's tasks.
func memoryOfJobs(ctx context.Context, b *bench, _ string) error {
	weigh := func(buffer []byte, _, _ int) ([]byte, int) {
		return post(buffer, "/v1/jobs", newKey(), weighedBody), 202
	}
	if _, err := b.load(ctx, extent{duration: warmTime}, weigh); err != nil { // so that Redis knows the scripts
		return err
	}
	if err := b.store.empty(ctx); err != nil {
		return err
	}
	before, err := b.store.memory(ctx)
	if err != nil {
		return err
	}
	if _, err := b.load(ctx, extent{count: weighed}, weigh); err != nil {
		return err
	}
	open, err := b.store.memory(ctx)
	if err != nil {
		return err
	}
	b.figures.add("open job bytes", (open-before)/weighed)
	if err := b.finish(ctx); err != nil {
		return err
	}
	final, err := b.store.memory(ctx)
	if err != nil {
		return err
	}
	b.figures.add("finished job bytes", (final-before)/weighed)
	return b.weighKeys(ctx, (final-before)/weighed)
}

// load runs an API for as long as it takes to load it.
func (b *bench) load(ctx context.Context, until extent, next maker) (measured, error) {
	api, err := b.onejob(ctx, "api")
	if err != nil {
		return measured{}, err
	}
	defer b.stop(api)
	return closedLoop(ctx, api.addr, b.conns, until, next)
}

// finish runs a worker until all that was weighed has succeeded.
func (b *bench) finish(ctx context.Context) error {
	worker, err := b.onejob(ctx, "worker")
	if err != nil {
		return err
	}
	defer b.stop(worker)
	if err := b.store.finished(ctx, weighed); err != nil {
		return err
	}
	return b.store.idle(ctx)
}

// sampled is how many keys of a kind are asked for their size.
const sampled = 500

// weighKeys tells what of a finished job's bytes is in its own keys.
func (b *bench) weighKeys(ctx context.Context, whole float64) error {
	rest := whole
	for _, kind := range []string{"job", "key"} {
		mean, err := b.store.meanSize(ctx, kind)
		if err != nil {
			return err
		}
		b.figures.add("finished job bytes: "+kind, mean)
		rest -= mean
	}
	b.figures.add("finished job bytes: indexes", rest)
	given, err := b.store.given(ctx)
	if err != nil {
		return err
	}
	b.figures.add("finished job bytes: input and result", given)
	b.figures.add("finished job bytes beyond input and result", whole-given)
	return nil
}

// meanSize is the size of keys of a kind, by Redis's own account.
func (s *store) meanSize(ctx context.Context, kind string) (float64, error) {
	keys, err := s.some(ctx, kind)
	if err != nil {
		return 0, err
	}
	pipe := s.rdb.Pipeline()
	sizes := make([]*redis.IntCmd, len(keys))
	for i, key := range keys {
		sizes[i] = pipe.MemoryUsage(ctx, key, 0) // 0: all of its fields, instead of a sample
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, fmt.Errorf("asking for the size of keys: %w", err)
	}
	var total int64
	for _, size := range sizes {
		total += size.Val()
	}
	return float64(total) / float64(len(keys)), nil
}

func (s *store) some(ctx context.Context, kind string) ([]string, error) {
	var found []string
	scan := s.rdb.Scan(ctx, 0, "oj:{*}:"+kind+":*", 1000).Iterator()
	for len(found) < sampled && scan.Next(ctx) {
		found = append(found, scan.Val())
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("looking for keys: %w", err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("looking for keys: there are none of kind %s", kind)
	}
	return found, nil
}

// given is the length of a job's input and result.
func (s *store) given(ctx context.Context) (float64, error) {
	keys, err := s.some(ctx, "job")
	if err != nil {
		return 0, err
	}
	values, err := s.rdb.HMGet(ctx, keys[0], "input", "result").Result()
	if err != nil {
		return 0, fmt.Errorf("reading a record: %w", err)
	}
	total := 0
	for _, value := range values {
		text, ok := value.(string)
		if !ok {
			return 0, fmt.Errorf("reading a record: %s has no input or no result", strconv.Quote(keys[0]))
		}
		total += len(text)
	}
	return float64(total), nil
}
