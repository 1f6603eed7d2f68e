package limits

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed lease.lua
var leaseSource string

var leaseScript = redis.NewScript(leaseSource)

// Requests taken ahead are those of a twentieth of a second, so an owner costs about
// twenty round trips a second at most, in each process.
const (
	leasesPerSecond = 20
	leaseMost       = 100
)

// requests are what a process has taken ahead for an owner.
type requests struct {
	mu    sync.Mutex
	left  int
	until time.Time // nothing is asked for before: there is none, or no answer
	none  bool      // there is none until then
}

// Request takes one request of an owner. A wait says that it is one too many, and when
// there is one again; rate and burst are what he may make then.
func (l *Limiter) Request(ctx context.Context, owner string) (wait time.Duration, rate, burst int) {
	s := l.settings(owner)
	if s.Rate == 0 {
		return 0, 0, 0
	}
	r := &l.of(owner).requests
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left == 0 && !time.Now().Before(r.until) {
		l.lease(ctx, owner, s, r)
	}
	switch {
	case r.left > 0:
		r.left--
	case r.none && time.Now().Before(r.until):
		wait = time.Until(r.until)
	}
	return wait, s.Rate, s.Burst
}

// lease takes a few ahead. The others of this owner wait for it, so that one asks for
// all of them.
func (l *Limiter) lease(ctx context.Context, owner string, s Settings, r *requests) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	wanted := min(max(1, s.Rate/leasesPerSecond), leaseMost, s.Burst)
	said, err := leaseScript.Run(ctx, l.rdb, []string{rateKey(owner)}, s.Rate, s.Burst, wanted).Int64Slice()
	if err != nil || len(said) != 2 {
		r.until, r.none = time.Now().Add(askAgain), false
		return
	}
	r.left, r.none = int(said[0]), said[0] == 0
	r.until = time.Now().Add(time.Duration(said[1]) * time.Microsecond)
}

func rateKey(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return "oj:rate:" + hex.EncodeToString(sum[:])[:32]
}
