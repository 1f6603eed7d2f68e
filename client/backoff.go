package client

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff is how pauses between tries grow: doubling from first to most, each a
// random part between half and whole, so that callers who were cut off together do
// not come back together.
type backoff struct{ first, most time.Duration }

// pause is the one after try number n, from 1.
func (b backoff) pause(n int) time.Duration {
	whole := b.most
	if n < 32 { // no overflow, for a first of some seconds at most
		whole = min(b.first<<(n-1), b.most)
	}
	half := whole / 2
	return half + rand.N(half+1) //nolint:gosec // spreads callers, guards nothing
}

// sleep waits for d or for the end of ctx, whose error it returns.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
