package auth

import (
	"strconv"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestARequestNormallyCostsNoRoundTrip(t *testing.T) {
	t.Parallel()
	b := setup(t, newClient(t, "tcp", miniredis.RunT(t).Addr()))
	secret, _, err := b.Create(t.Context(), "acme", Submit, "", time.Time{})
	require.NoError(t, err)
	b.trips.Store(0)
	for range 100 {
		_, err := b.Authenticate(t.Context(), secret)
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, b.trips.Load())
	b.advance(CacheTTL)
	_, err = b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	require.EqualValues(t, 2, b.trips.Load())
	require.Equal(t, 5*time.Second, CacheTTL, "as documented")
}

// A look-up that began before a revocation ends after it.
func TestAnOlderAnswerDoesNotBringAKeyBack(t *testing.T) {
	t.Parallel()
	c := newCache()
	c.put("a", Key{}, false, start.Add(1))
	c.put("a", Key{ID: "old"}, true, start)
	_, known, ok := c.get("a", start.Add(2))
	require.True(t, ok)
	require.False(t, known)

	c.put("a", Key{ID: "new"}, true, start.Add(2))
	key, known, _ := c.get("a", start.Add(2))
	require.True(t, known)
	require.Equal(t, "new", key.ID)
}

func TestAFloodOfUnknownKeysIsBounded(t *testing.T) {
	t.Parallel()
	c := newCache()
	c.put("real", Key{ID: "real"}, true, start)
	for i := range 5 * maxUnknown {
		c.put(strconv.Itoa(i), Key{}, false, start)
		require.LessOrEqual(t, len(c.unknown), maxUnknown)
	}
	_, known, ok := c.get("real", start)
	require.True(t, ok && known, "the flood does not push out real keys")
	_, _, ok = c.get(strconv.Itoa(5*maxUnknown-1), start)
	require.True(t, ok, "the latest is remembered")
}

// A look-up that overlaps with a revocation, by a clock that does not tell which began
// first.
func TestOfOneInstantTheRevocationStays(t *testing.T) {
	t.Parallel()
	for _, revokedFirst := range []bool{true, false} {
		c := newCache()
		c.put("key", Key{}, !revokedFirst, start)
		c.put("key", Key{}, revokedFirst, start)
		_, known, ok := c.get("key", start)
		require.True(t, ok)
		require.False(t, known)
	}
}

func TestKnownKeysAreBounded(t *testing.T) {
	t.Parallel()
	c := newCache()
	for i := range maxKnown + 10 {
		c.put(strconv.Itoa(i), Key{}, true, start)
		require.LessOrEqual(t, len(c.known), maxKnown)
	}
}

func TestStaleAnswersGoFirst(t *testing.T) {
	t.Parallel()
	c := newCache()
	for i := range maxUnknown / 2 {
		c.put("stale"+strconv.Itoa(i), Key{}, false, start)
	}
	now := start.Add(CacheTTL)
	for i := range maxUnknown/2 + 1 {
		c.put("fresh"+strconv.Itoa(i), Key{}, false, now)
	}
	require.Len(t, c.unknown, maxUnknown/2+1)
}

// A machine that slept has an old monotonic clock and a new wall clock.
func TestFreshCountsByTheLargerClock(t *testing.T) {
	t.Parallel()
	now := time.Now()
	r := remembered{at: now}
	require.True(t, r.fresh(now.Add(CacheTTL-1)))
	require.False(t, r.fresh(now.Add(CacheTTL)))
	require.False(t, r.fresh(now.Round(0).Add(CacheTTL)), "wall time alone")
	require.True(t, remembered{at: now.Add(1)}.fresh(now), "a question sent a moment later")
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	b := setup(t, newClient(t, "tcp", miniredis.RunT(t).Addr()))
	secret, key, err := b.Create(t.Context(), "acme", Submit, "", time.Time{})
	require.NoError(t, err)
	done := make(chan struct{})
	for range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 50 {
				_, err := b.Authenticate(t.Context(), secret)
				if err != nil {
					assert.ErrorIs(t, err, ErrUnauthorized)
				}
				_, err = b.Authenticate(t.Context(), newSecret())
				assert.ErrorIs(t, err, ErrUnauthorized)
			}
		}()
	}
	require.NoError(t, b.Revoke(t.Context(), key.ID))
	for range 8 {
		<-done
	}
	_, err = b.Authenticate(t.Context(), secret)
	require.ErrorIs(t, err, ErrUnauthorized)
}
