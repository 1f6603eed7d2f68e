package auth

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
)

// TestRotate: both keys work for as long as they overlap, in every process; then the
// new one alone.
func TestRotate(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		elsewhere := b.other()
		secret, old, err := b.Create(ctx, "acme", Viewer, "billing", time.Time{})
		require.NoError(t, err)
		b.advance(time.Hour)
		r, err := b.Rotate(ctx, old.ID, 24*time.Hour, 0)
		require.NoError(t, err)
		require.NotEqual(t, old.ID, r.New.ID)
		require.Equal(t, []any{"acme", Viewer, "billing", time.Time{}}, []any{r.New.Owner, r.New.Role, r.New.Label, r.New.Expires})
		require.Equal(t, start.Add(25*time.Hour), r.Old.Expires)
		works := func(want bool, secret string) {
			t.Helper()
			for _, process := range []*Keys{b.Keys, elsewhere} {
				_, err := process.Authenticate(ctx, secret)
				require.Equal(t, want, err == nil, "%v", err)
			}
		}
		works(true, secret)
		works(true, r.Secret)
		_, err = b.Rotate(ctx, old.ID, time.Hour, 0)
		require.ErrorContains(t, err, "rotate "+r.New.ID)
		b.advance(24*time.Hour - 1)
		works(true, secret)
		b.advance(1)
		works(false, secret)
		works(true, r.Secret)
		keys, err := b.List(ctx)
		require.NoError(t, err)
		require.Equal(t, []Key{r.Old, r.New}, keys)
		_, err = b.Rotate(ctx, old.ID, time.Hour, 0)
		require.ErrorContains(t, err, "has expired")
	})
}

// TestRotate_Lifetimes: an overlap never makes a key live longer, and the new one is
// given what the old one was.
func TestRotate_Lifetimes(t *testing.T) {
	t.Parallel()
	b := setup(t, newClient(t, "tcp", miniredis.RunT(t).Addr()))
	_, old, err := b.Create(t.Context(), "acme", Submit, "", start.Add(10*time.Hour))
	require.NoError(t, err)
	b.advance(9 * time.Hour)
	r, err := b.Rotate(t.Context(), old.ID, 24*time.Hour, 0)
	require.NoError(t, err)
	require.Equal(t, start.Add(10*time.Hour), r.Old.Expires)
	require.Equal(t, start.Add(19*time.Hour), r.New.Expires)
	r, err = b.Rotate(t.Context(), r.New.ID, 0, time.Hour)
	require.NoError(t, err)
	require.Equal(t, start.Add(10*time.Hour), r.New.Expires)
	require.True(t, r.Old.Expired(b.now()))
}

// TestRotate_WhatIsNotThere makes nothing, and never half a record.
func TestRotate_WhatIsNotThere(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	b := setup(t, newClient(t, "tcp", server.Addr()))
	_, err := b.Rotate(t.Context(), "key_x", time.Hour, 0)
	require.ErrorIs(t, err, ErrNotFound)
	require.Empty(t, server.Keys())
	there, err := shorten.Run(t.Context(), b.client, []string{recordPrefix + "x"}, 1, "y").Int()
	require.NoError(t, err)
	require.Zero(t, there)
	require.Empty(t, server.Keys(), "a key that was revoked meanwhile stays gone")
	server.Close()
	_, err = b.Rotate(t.Context(), "key_x", time.Hour, 0)
	require.ErrorIs(t, err, ErrUnavailable)
}
