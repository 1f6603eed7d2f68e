package witness

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// Trial is a store that is lost again and again while jobs are submitted, and all that
// stands around it.
type Trial struct {
	T     testing.TB
	Ctx   context.Context //nolint:containedctx // that of the test
	Dice  *rand.Rand
	Seen  *Witness
	Load  *Load
	Fleet *Fleet
	Store *jobs.Store
}

// Setting is what one kind of trial has otherwise than another.
type Setting struct {
	Seed          uint64
	Limit         time.Duration // of the whole trial
	Redis         string        // as in a configuration
	Client        *redis.Client // of the same
	APIs, Workers int
	Pause         time.Duration // of a caller between two jobs
}

// Begin starts the processes; they end with the test.
func Begin(t testing.TB, s Setting) *Trial {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), s.Limit)
	press := NewPress(t)
	r := &Trial{
		T: t, Ctx: ctx, Dice: rand.New(rand.NewPCG(s.Seed, 0)), Seen: New(press),
		Fleet: Start(t, s.Redis, press, s.APIs, s.Workers), Store: jobs.NewStore(s.Client, jobs.Options{}),
	}
	r.Load = &Load{Witness: r.Seen, APIs: r.Fleet.APIs, Seed: s.Seed, Pause: s.Pause}
	t.Cleanup(func() {
		cancel()
		r.Load.Close()
		_ = r.Store.Close()
	})
	return r
}

// Judged waits until everything has come to rest, and wants no rule to be broken.
func (r *Trial) Judged() Verdict {
	r.T.Helper()
	Settled(r.Ctx, r.T, r.Store)
	v, err := r.Seen.Judge(r.Ctx, r.Store)
	require.NoError(r.T, err)
	require.NoError(r.T, v.Err())
	return v
}

// Wait lets time pass in which things go wrong.
func (r *Trial) Wait(d time.Duration) { pause(r.Ctx, d) }

// WaitAbout is Wait for the dice's share of d.
func (r *Trial) WaitAbout(d time.Duration) { r.Wait(time.Duration(r.Dice.Int64N(int64(d)))) }

// Number is one of the environment.
func Number(name string, otherwise uint64) uint64 {
	n, err := strconv.ParseUint(os.Getenv(name), 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}
