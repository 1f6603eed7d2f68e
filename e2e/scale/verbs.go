package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"onejob/batch"
	"onejob/jobs"
)

// storeVerbs measures submit, claim and finalize alone. A store is so much cheaper than
// the processes around it that one Redis is the first to be full, on two cores as well.
func storeVerbs(ctx context.Context, at *stand, s settings) (verbs, error) {
	var rounds []verbs
	for range s.rounds {
		if err := flush(ctx, at.rdb); err != nil {
			return verbs{}, err
		}
		one, err := verbsOnce(ctx, at, s)
		if err != nil {
			return verbs{}, err
		}
		rounds = append(rounds, one)
	}
	slices.SortFunc(rounds, func(a, b verbs) int { return cmp.Compare(a.PerSecond, b.PerSecond) })
	return rounds[len(rounds)/2], nil
}

func verbsOnce(ctx context.Context, at *stand, s settings) (verbs, error) {
	scripts, err := batch.New(at.rdb, nil)
	if err != nil {
		return verbs{}, fmt.Errorf("gathering scripts: %w", err)
	}
	store := jobs.NewStore(at.rdb, jobs.Options{Scripts: scripts})
	defer func() { _ = store.Close() }()
	if err := lifeOfAJob(ctx, store); err != nil { // so that every node knows the scripts
		return verbs{}, err
	}
	m, err := startMeter(at.pids()...)
	if err != nil {
		return verbs{}, err
	}
	began, own := time.Now(), ownTime()
	n, err := lives(ctx, store, func(int) bool { return time.Since(began) < s.duration })
	if err != nil {
		return verbs{}, err
	}
	took, client := time.Since(began), ownTime()-own
	each, err := m.each(n)
	return verbs{PerSecond: float64(n) / took.Seconds(), Client: float64(client.Microseconds()) / float64(n), Nodes: each}, err
}

// lives has many jobs live at once, as long as more are wanted, and tells how many did.
func lives(ctx context.Context, store *jobs.Store, more func(done int) bool) (int, error) {
	var (
		count  atomic.Int64
		failed atomic.Pointer[error]
		all    sync.WaitGroup
	)
	for range 4 * callers {
		all.Go(func() {
			for ctx.Err() == nil && more(int(count.Load())) && failed.Load() == nil {
				if err := lifeOfAJob(ctx, store); err != nil {
					failed.Store(&err)
				}
				count.Add(1)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return int(count.Load()), nil
}

func lifeOfAJob(ctx context.Context, store *jobs.Store) error {
	key := rand.Text()
	made, err := store.Submit(ctx, jobs.Submission{
		Owner: "dev", Key: key, Fingerprint: "v1:" + key, Route: "print", Provider: "press-0", Input: json.RawMessage(`{"page":"Hello"}`),
	})
	if err != nil {
		return fmt.Errorf("submitting: %w", err)
	}
	id := made.Job.ID
	claim, err := store.Claim(ctx, jobs.ClaimRequest{JobID: id, Attempt: 1, Token: key, Provider: "press-0", Deadline: time.Minute})
	if err != nil {
		return fmt.Errorf("claiming: %w", err)
	}
	if _, err := store.Finalize(ctx, jobs.Ending{JobID: id, Attempt: 1, Fence: claim.Fence}, json.RawMessage(`{"sheet":1}`), nil); err != nil {
		return fmt.Errorf("finalizing: %w", err)
	}
	return nil
}
