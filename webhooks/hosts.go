package webhooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Hosts keeps one receiver from holding up all others: at most so many deliveries
// of this process are at one host at a time. Who finds no room is told when to come
// again; of many, one after the other.
type Hosts struct {
	limit int
	mu    sync.Mutex
	hosts map[string]*host
}

type host struct {
	inside int
	took   time.Duration // of a visit, about
	queue  time.Time     // when the next that finds no room may come
}

// NewHosts lets limit deliveries be at one host at a time, at least one.
func NewHosts(limit int) *Hosts { return &Hosts{limit: max(1, limit), hosts: map[string]*host{}} }

// Waits of those who find no room: as long as the visits before them are expected
// to take, within these bounds.
const (
	firstGuess = 200 * time.Millisecond // of a visit, before there was one
	waitLeast  = time.Second
	waitMost   = 5 * time.Minute
)

// Enter takes a place at a host; leave must be called. Without one, leave is nil and
// wait says when to come again.
func (h *Hosts) Enter(name string) (leave func(), wait time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.hosts[name]
	if at == nil {
		at = &host{took: firstGuess}
		h.hosts[name] = at
	}
	if at.inside >= h.limit {
		return nil, at.line(time.Now(), h.limit)
	}
	at.inside++
	began := time.Now()
	return func() { h.leave(name, time.Since(began)) }, 0
}

// line gives the next place in the line of those who wait.
func (at *host) line(now time.Time, limit int) time.Duration {
	if earliest := now.Add(waitLeast); at.queue.Before(earliest) {
		at.queue = earliest
	}
	wait := min(at.queue.Sub(now), waitMost)
	at.queue = at.queue.Add(at.took / time.Duration(limit))
	return wait
}

func (h *Hosts) leave(name string, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.hosts[name]
	at.inside--
	at.took = (3*at.took + took) / 4
	if at.inside == 0 && time.Now().After(at.queue) {
		delete(h.hosts, name)
	}
}

// Slowdowns are the receivers that are overloaded, for all workers: until then an
// owner's deliveries to that host are left alone. They are the owner's: what one
// has brought upon himself at a shared host holds up nobody else.
type Slowdowns struct{ Redis redis.UniversalClient }

func slowKey(owner, host string) string {
	sum := sha256.Sum256([]byte(owner + "\x00" + host))
	return "oj:webhook-slow:" + hex.EncodeToString(sum[:16])
}

// slowLeast is the pause of a receiver that is overloaded and does not say for how
// long.
const slowLeast = 10 * time.Second

// Slow leaves a receiver alone for as long as it asked for, 10 s at least.
func (s Slowdowns) Slow(ctx context.Context, owner, host string, asked time.Duration) error {
	pause := max(asked, slowLeast)
	if err := s.Redis.Set(ctx, slowKey(owner, host), time.Now().Add(pause).UnixMilli(), pause).Err(); err != nil {
		return fmt.Errorf("slowing down webhooks: %w", err)
	}
	return nil
}

// Left is how long a receiver is to be left alone yet.
func (s Slowdowns) Left(ctx context.Context, owner, host string) (time.Duration, error) {
	left, err := s.Redis.PTTL(ctx, slowKey(owner, host)).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, fmt.Errorf("looking whether webhooks are slowed down: %w", err)
	}
	return max(left, 0), nil
}
