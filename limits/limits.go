// Package limits keeps owners to what they may ask for: requests per second and jobs
// that have not ended (docs/limits.md).
//
// Limits hold for all API processes together. Requests are counted in Redis, but
// taken from there a few ahead (about 50 ms worth), so that most cost no round trip;
// no more are ever let through than that many a second and a burst. The number of
// open jobs is asked for at most every second and what a process lets through itself
// is added, so several processes can together exceed it by what they let through in
// a second.
//
// A limit that cannot be asked lets pass: whatever needs the store is then answered
// by the store's own absence, and nobody is told he asked too much because Redis was
// away.
package limits

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Settings are the limits of one owner; 0 is none.
type Settings struct {
	// Rate is how many requests he may make a second, Burst how many at once; a
	// Rate needs a Burst of at least 1.
	Rate, Burst int
	// OpenJobs is how many of his jobs may not have ended yet.
	OpenJobs int
}

// Limiter holds owners to their limits. It is safe for concurrent use. Owners are
// those of API keys, so there are not many of them.
type Limiter struct {
	rdb      redis.UniversalClient
	settings func(owner string) Settings
	count    func(ctx context.Context, owner string) (int, error)

	mu     sync.Mutex
	owners map[string]*owner
}

// owner is what this process knows of one.
type owner struct {
	requests requests
	jobs     openJobs
}

// New returns a Limiter over rdb, which it does not close. count tells how many jobs
// of an owner have not ended.
func New(rdb redis.UniversalClient, settings func(owner string) Settings, count func(context.Context, string) (int, error)) *Limiter {
	return &Limiter{rdb: rdb, settings: settings, count: count, owners: map[string]*owner{}}
}

func (l *Limiter) of(name string) *owner {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owners[name] == nil {
		l.owners[name] = &owner{}
	}
	return l.owners[name]
}

// askTime bounds a question to Redis: a request waits for the answer. After one that
// was not answered in time none is asked for askAgain.
const (
	askTime  = 500 * time.Millisecond
	askAgain = time.Second
)
