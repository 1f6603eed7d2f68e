package tasks

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/jobs"
)

// Fair shares between owners. asynq's queues are first come, first served: ten
// thousand wake-ups of one owner would stand before another's one. So a provider's
// queue is given only so many (its window); what comes beyond that is parked in a
// line of its owner's, and a Pump fills the queue from the lines in turns.
//
// Lines are hints like wake-ups themselves: what is lost with them is due in the
// store, and is woken again from there.

//go:embed park.lua
var parkSource string

//go:embed refill.lua
var refillSource string

var (
	parkScript   = redis.NewScript(parkSource)
	refillScript = redis.NewScript(refillSource)
)

// QueueOption changes what NewQueue returns.
type QueueOption func(*Queue)

// Fairly makes the queue share providers between owners. window is how many wake-ups
// may wait on the queue of a provider: so many calls another owner's job may have to
// wait for. shares are those of owners, by jobs.OwnerHash; who is not named has 1.
// Without it nothing is parked.
func Fairly(window func(provider string) int, shares map[string]int) QueueOption {
	return func(q *Queue) {
		q.window = window
		for owner, share := range shares {
			q.shares = append(q.shares, owner, share)
		}
	}
}

// nobody is the line of wake-ups whose owner is not known.
const nobody = "nobody"

// lines are the names of a provider's lines; they share a slot with asynq's own keys.
func lines(provider string) string  { return "oj:backlog:{" + provider + "}:" }
func owners(provider string) string { return lines(provider) + "owners" }
func turn(provider string) string   { return lines(provider) + "turn" }

// pending and taskKey are asynq's own; TestFair_KeysOfAsynq holds them to it.
func pending(provider string) string     { return "asynq:{" + provider + "}:pending" }
func taskKey(provider, id string) string { return "asynq:{" + provider + "}:t:" + id }

// placed is what became of a wake-up.
type placed string

const (
	queued  placed = "room"    // it is on the queue
	parked  placed = "parked"  // it waits in its owner's line
	waiting placed = "waiting" // it did before
	taken   placed = "taken"   // a task of its id exists; that says no more
)

// refill fills a provider's queue from the lines. What it took and could not enqueue
// is woken by the sweeper.
func (q *Queue) refill(ctx context.Context, provider string) error {
	arguments := append([]any{q.window(provider), lines(provider)}, q.shares...)
	keys := []string{pending(provider), owners(provider), turn(provider)}
	said, err := refillScript.Run(ctx, q.rdb, keys, arguments...).Slice()
	if err != nil {
		return fmt.Errorf("taking parked wake-ups of provider %s: %w", provider, err)
	}
	if len(said) < 2 {
		return fmt.Errorf("taking parked wake-ups of provider %s: the script answered %v", provider, said)
	}
	var wakes []jobs.Wake
	for i := 2; i+1 < len(said); i += 2 {
		owner, _ := said[i].(string)
		attempt, _ := said[i+1].(string)
		if w, ok := parseAttempt(attempt); ok {
			w.Provider, w.Owner = provider, owner
			wakes = append(wakes, w)
		}
	}
	q.depthOf(provider).learn(number(said[0])+len(wakes), number(said[1]) > 0)
	return q.enqueueAll(ctx, wakes)
}

// parseAttempt reads an attempt's id, as a line holds it.
func parseAttempt(id string) (jobs.Wake, bool) {
	job, n, ok := strings.Cut(id, "-a")
	attempt, err := strconv.Atoi(n)
	return jobs.Wake{JobID: job, Attempt: attempt}, ok && err == nil
}

func number(v any) int {
	n, _ := v.(int64)
	return int(n)
}

// Backlog is what is parked for a provider, beside what waits on its queue.
type Backlog struct {
	Total   int
	ByOwner map[string]int // by jobs.OwnerHash
}

// Backlog counts what is parked for a provider, in two round trips.
func (q *Queue) Backlog(ctx context.Context, provider string) (Backlog, error) {
	names, err := q.rdb.ZRange(ctx, owners(provider), 0, -1).Result()
	if err != nil {
		return Backlog{}, fmt.Errorf("reading the backlog of provider %s: %w", provider, err)
	}
	b := Backlog{ByOwner: make(map[string]int, len(names))}
	if len(names) == 0 {
		return b, nil
	}
	pipe := q.rdb.Pipeline()
	counts := make([]*redis.IntCmd, len(names))
	for i, name := range names {
		counts[i] = pipe.ZCard(ctx, lines(provider)+name)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return Backlog{}, fmt.Errorf("counting the backlog of provider %s: %w", provider, err)
	}
	for i, name := range names {
		n := int(counts[i].Val())
		b.ByOwner[name] = n
		b.Total += n
	}
	return b, nil
}

// look reads how many wait on the queues of providers and whether there are lines,
// in one round trip.
func (q *Queue) look(ctx context.Context, providers []string) error {
	pipe := q.rdb.Pipeline()
	depths, lined := make([]*redis.IntCmd, len(providers)), make([]*redis.IntCmd, len(providers))
	for i, provider := range providers {
		depths[i], lined[i] = pipe.LLen(ctx, pending(provider)), pipe.Exists(ctx, owners(provider))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("looking at the queues: %w", err)
	}
	for i, provider := range providers {
		q.depthOf(provider).learn(int(depths[i].Val()), lined[i].Val() > 0)
	}
	return nil
}

// believed is how long a look at a queue is good for.
const believed = 300 * time.Millisecond
