package webhooks

import (
	"context"
	"encoding/base64"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx := testContext(t)
		now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
		secrets := &Secrets{Redis: rdb, Now: func() time.Time { return now }}
		_, err := secrets.Of(ctx, "acme")
		require.ErrorIs(t, err, ErrNoSecret)

		first, made, err := secrets.Ensure(ctx, "acme")
		require.NoError(t, err)
		require.True(t, made)
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(first.Current, "whsec_"))
		require.NoError(t, err)
		require.Len(t, raw, 32, "Standard Webhooks asks for 24 to 64 bytes")
		again, made, err := secrets.Ensure(ctx, "acme")
		require.NoError(t, err)
		require.False(t, made)
		require.Equal(t, first, again)
		other, _, err := secrets.Ensure(ctx, "other")
		require.NoError(t, err)
		require.NotEqual(t, first.Current, other.Current)

		second, err := secrets.Rotate(ctx, "acme", time.Hour)
		require.NoError(t, err)
		require.Equal(t, []string{second.Current, first.Current}, second.Keys())
		now = now.Add(time.Hour - time.Millisecond)
		during, err := secrets.Of(ctx, "acme")
		require.NoError(t, err)
		require.Equal(t, []string{second.Current, first.Current}, during.Keys())
		now = now.Add(time.Millisecond)
		after, err := secrets.Of(ctx, "acme")
		require.NoError(t, err)
		require.Equal(t, []string{second.Current}, after.Keys(), "the overlap is over")

		third, err := secrets.Rotate(ctx, "acme", time.Hour)
		require.NoError(t, err)
		fourth, err := secrets.Rotate(ctx, "acme", 0)
		require.NoError(t, err)
		require.Equal(t, []string{fourth.Current}, fourth.Keys(), "a secret that leaked stops at once")
		require.NotEqual(t, third.Current, fourth.Current)
	})
}

// Of two that rotate at once, each leaves the other's as the one before or is
// overtaken as a whole: no mixture of the two is ever stored.
func TestSecrets_AtOnce(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx := testContext(t)
		secrets := &Secrets{Redis: rdb}
		var all sync.WaitGroup
		made := make([]string, 8)
		for i := range made {
			all.Go(func() {
				secret, _, err := secrets.Ensure(ctx, "acme")
				assert.NoError(t, err)
				made[i] = secret.Current
			})
		}
		all.Wait()
		for _, secret := range made {
			require.Equal(t, made[0], secret, "one owner, one secret")
		}
	})
}

func TestSecrets_Fixed(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	secrets := &Secrets{Redis: redistest.Mini(t), Fixed: DevSecrets()}
	fixed, err := secrets.Of(ctx, "dev")
	require.NoError(t, err)
	require.Equal(t, DevSecrets()["dev"], fixed.Current)
	rotated, err := secrets.Rotate(ctx, "dev", time.Hour)
	require.NoError(t, err)
	require.Equal(t, []string{rotated.Current, fixed.Current}, rotated.Keys())
	_, err = secrets.Of(ctx, "acme")
	require.ErrorIs(t, err, ErrNoSecret)
}
