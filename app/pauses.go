package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// pauses is providers.Pauses over the store: what one worker was told with a
// Retry-After, all of them respect. It is asked before every call, so it looks
// into the store once in a while only.
type pauses struct {
	rdb redis.UniversalClient

	mu    sync.Mutex
	known map[string]pause
}

type pause struct {
	until  time.Time
	looked time.Time
}

// pauseLook is how long a process goes by what it knows of a provider.
const pauseLook = time.Second

func newPauses(rdb redis.UniversalClient) *pauses {
	return &pauses{rdb: rdb, known: map[string]pause{}}
}

func pauseKey(provider string) string { return "oj:pause:" + provider }

// Pause leaves a provider alone until a time; a longer pause stays.
func (p *pauses) Pause(ctx context.Context, provider string, until time.Time) error {
	longest, err := p.look(ctx, provider)
	if err != nil {
		return err
	}
	if !until.After(longest) {
		return nil
	}
	p.mu.Lock()
	p.known[provider] = pause{until: until, looked: time.Now()}
	p.mu.Unlock()
	if err := p.rdb.Set(ctx, pauseKey(provider), until.UnixMilli(), time.Until(until)).Err(); err != nil {
		return fmt.Errorf("pausing provider %s: %w", provider, err)
	}
	return nil
}

// Paused is until when a provider is left alone.
func (p *pauses) Paused(ctx context.Context, provider string) (time.Time, error) {
	p.mu.Lock()
	known := p.known[provider]
	p.mu.Unlock()
	if time.Since(known.looked) < pauseLook || time.Now().Before(known.until) {
		return known.until, nil
	}
	return p.look(ctx, provider)
}

// look asks the store, and not for long: a call waits for the answer.
func (p *pauses) look(ctx context.Context, provider string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, pauseLook)
	defer cancel()
	ms, err := p.rdb.Get(ctx, pauseKey(provider)).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return time.Time{}, fmt.Errorf("looking for a pause of provider %s: %w", provider, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known := pause{looked: time.Now()}
	if ms > 0 {
		known.until = time.UnixMilli(ms)
	}
	p.known[provider] = known
	return known.until, nil
}
