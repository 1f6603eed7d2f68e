package auth

import (
	"sync"
	"time"
)

// CacheTTL is how long an answer of the store is taken for granted, and so how
// long a revoked key can go on working in another process.
const CacheTTL = 5 * time.Second

// Sizes of the cache. Known and unknown keys have rooms of their own, so that a
// flood of made-up keys cannot push out real ones.
const (
	maxKnown   = 10000
	maxUnknown = 1000
)

// cache remembers answers by digest, bounded in time and size. It holds no
// secrets.
type cache struct {
	mu      sync.Mutex
	known   map[string]remembered
	unknown map[string]remembered
}

type remembered struct {
	key Key
	at  time.Time // the question was sent
}

func newCache() *cache {
	return &cache{known: map[string]remembered{}, unknown: map[string]remembered{}}
}

// get returns the answer remembered for a digest: the key, whether there is
// one, and whether anything is remembered.
func (c *cache) get(sum string, now time.Time) (key Key, known, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.known[sum]; ok && r.fresh(now) {
		return r.key, true, true
	}
	if r, ok := c.unknown[sum]; ok && r.fresh(now) {
		return Key{}, false, true
	}
	return Key{}, false, false
}

// put remembers an answer, unless a later question was answered meanwhile: a
// look-up that overlaps with a revocation must not bring the key back. Of questions of
// the same instant, which a coarse clock gives, the answer that there is no key stays.
func (c *cache) put(sum string, key Key, known bool, asked time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	no, denied := c.unknown[sum]
	if c.known[sum].at.After(asked) || no.at.After(asked) || (known && denied && no.at.Equal(asked)) {
		return
	}
	delete(c.known, sum)
	delete(c.unknown, sum)
	room, size := c.unknown, maxUnknown
	if known {
		room, size = c.known, maxKnown
	}
	makeRoom(room, size, asked)
	room[sum] = remembered{key: key, at: asked}
}

// makeRoom throws what is stale out of a full room and, if it is still full, a
// quarter of the rest, whichever comes first: a lost entry costs one round trip.
func makeRoom(room map[string]remembered, size int, now time.Time) {
	if len(room) < size {
		return
	}
	for sum, r := range room {
		if !r.fresh(now) {
			delete(room, sum)
		}
	}
	if len(room) < size {
		return
	}
	for sum := range room {
		if len(room) <= size*3/4 {
			return
		}
		delete(room, sum)
	}
}

// fresh counts by the larger of monotonic and wall time: the first stands still
// while a machine sleeps, the second can be set back.
func (r remembered) fresh(now time.Time) bool {
	return max(now.Sub(r.at), now.Round(0).Sub(r.at.Round(0))) < CacheTTL
}
