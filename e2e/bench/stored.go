package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"onejob/batch"
	"onejob/jobs"
)

// What a submission and a list cost beside 10,000, 100,000 and a million jobs: one
// store each, filled before, so that they can be measured in turns. They keep
// everything in memory, or filling them would take long.
func (b *bench) sizes() []int { return []int{b.stored / 100, b.stored / 10, b.stored} }

const (
	storedRounds = 5
	storedCalls  = 2000 // so few that the smallest store stays about as large as it was
	listCalls    = 400
)

func stored(ctx context.Context, b *bench, _ string) error {
	var stores []*store
	defer func() {
		for _, s := range stores {
			s.stop()
		}
	}()
	for _, size := range b.sizes() {
		s, err := b.startStore(ctx, "redis-"+strconv.Itoa(size), inMemory)
		if err != nil {
			return err
		}
		stores = append(stores, s)
		began := time.Now()
		if err := s.fill(ctx, size); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "stored %d jobs in %v\n", size, time.Since(began).Round(100*time.Millisecond))
		b.figures.add(storedName(size)+"fill/s", float64(size)/time.Since(began).Seconds())
	}
	for range storedRounds {
		for i, size := range b.sizes() {
			if err := b.beside(ctx, stores[i], storedName(size)); err != nil {
				return err
			}
		}
	}
	return nil
}

func storedName(size int) string { return "stored " + strconv.Itoa(size) + " " }

func (b *bench) beside(ctx context.Context, on *store, prefix string) error {
	api, err := b.onejobOn(ctx, on, "api")
	if err != nil {
		return err
	}
	defer b.stop(api)
	if err := b.rateFor(ctx, prefix+"submit", api, extent{count: storedCalls}, submits); err != nil {
		return err
	}
	return b.rateFor(ctx, prefix+"list", api, extent{count: listCalls}, func(buffer []byte, _, _ int) ([]byte, int) {
		return get(buffer, "/v1/jobs"), 200
	})
}

// filling is how many jobs are submitted at a time; they go to Redis together.
const filling = 256

// fill stores jobs of the owner that the bench is, as the API would. They wait to be
// claimed, and nobody claims them.
func (s *store) fill(ctx context.Context, count int) error {
	scripts, err := batch.New(s.rdb, nil)
	if err != nil {
		return fmt.Errorf("filling: %w", err)
	}
	to := jobs.NewStore(s.rdb, jobs.Options{Scripts: scripts})
	defer func() { _ = to.Close() }()
	fingerprint := "v1:" + strings.Repeat("x", 43)
	var group errgroup.Group
	for worker := range filling {
		group.Go(func() error {
			for i := worker; i < count && ctx.Err() == nil; i += filling {
				_, err := to.Submit(context.WithoutCancel(ctx), jobs.Submission{
					Owner: "dev", Key: filledKey(i), Fingerprint: fingerprint, Route: "print", Provider: "instant",
					Input: []byte(`{"text":"x"}`),
				})
				if err != nil {
					return fmt.Errorf("filling: %w", err)
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// filledKey is a key as most callers make theirs, which spreads over the partitions as
// dice would. Numbers counted up do not (some partitions get a twentieth more), and a
// million of them lie where Redis doubles the tables of many partitions at the same time:
// what is measured then is how it moves them, which every store does once on its way from
// n jobs to 2n.
func filledKey(i int) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(strconv.Itoa(i))).String()
}

// memory is what Redis holds, in bytes.
func (s *store) memory(ctx context.Context) (float64, error) {
	return s.info(ctx, "memory", "used_memory")
}

func (s *store) info(ctx context.Context, section, name string) (float64, error) {
	all, err := s.rdb.InfoMap(ctx, section).Result()
	if err != nil {
		return 0, fmt.Errorf("asking Redis about itself: %w", err)
	}
	for _, values := range all {
		if value, ok := values[name]; ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("asking Redis about itself: it does not tell %s: %w", name, redis.Nil)
}
