package dashboard

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// throttle counts wrong keys by the address they come from, for all processes.
//
// It keeps the audit log and the store from being flooded, and does not keep keys
// from being guessed: they are 256 random bits. So a key that works is never
// refused, or whoever sends wrong ones through the same proxy could lock everybody
// out.
type throttle struct {
	rdb redis.UniversalClient
}

const (
	// wrongMost is how many wrong keys an address may send within wrongWithin.
	wrongMost   = 10
	wrongWithin = time.Minute
)

// wrong counts a wrong key. After too many of them it returns how long the address
// should wait.
func (t *throttle) wrong(ctx context.Context, from string) (time.Duration, error) {
	name := "oj:login:" + digestOf(from)
	var count *redis.IntCmd
	var left *redis.DurationCmd
	_, err := t.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.SetNX(ctx, name, 0, wrongWithin)
		count = p.Incr(ctx, name)
		left = p.PTTL(ctx, name)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("counting wrong keys: %w", err)
	}
	if count.Val() <= wrongMost {
		return 0, nil
	}
	return max(left.Val(), time.Second), nil
}
