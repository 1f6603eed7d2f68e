package auth

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
)

func TestCreateThenAuthenticate(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		secret, key, err := b.Create(ctx, "acme", Viewer, "billing", start.Add(time.Hour))
		require.NoError(t, err)
		require.Equal(t, Key{
			ID: key.ID, Owner: "acme", Role: Viewer, Label: "billing",
			Created: start, Expires: start.Add(time.Hour), name: key.name, check: key.check,
		}, key)

		identity, err := b.other().Authenticate(ctx, secret)
		require.NoError(t, err)
		require.Equal(t, Identity{Owner: "acme", Role: Viewer, KeyID: key.ID}, identity)

		keys, err := b.List(ctx)
		require.NoError(t, err)
		require.Equal(t, []Key{key}, keys)
	})
}

func TestOnlyTheDigestIsStored(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		secret, key, err := b.Create(ctx, "acme", Submit, "", time.Time{})
		require.NoError(t, err)

		names, err := b.client.Keys(ctx, "*").Result()
		require.NoError(t, err)
		name, check := split(digest(secret))
		require.ElementsMatch(t, []string{"oj:apikeys", "oj:apikey:" + name}, names)
		record, err := b.client.HGetAll(ctx, "oj:apikey:"+name).Result()
		require.NoError(t, err)
		require.Equal(t, map[string]string{
			"id": key.ID, "owner": "acme", "role": "submit", "label": "",
			"created": "1772366400000", "expires": "0", "check": check,
		}, record)
		index, err := b.client.HGetAll(ctx, "oj:apikeys").Result()
		require.NoError(t, err)
		require.Equal(t, map[string]string{key.ID: name}, index)
	})
}

func TestListIsOldestFirst(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, b *bundle) {
		var want []Key
		for _, owner := range []string{"c", "a", "b"} {
			_, key, err := b.Create(t.Context(), owner, Submit, "", time.Time{})
			require.NoError(t, err)
			want = append(want, key)
			b.advance(time.Second)
		}
		got, err := b.List(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		elsewhere := b.other()
		secret, key, err := b.Create(ctx, "acme", Submit, "", time.Time{})
		require.NoError(t, err)
		for _, process := range []*Keys{b.Keys, elsewhere} {
			_, err = process.Authenticate(ctx, secret)
			require.NoError(t, err)
		}

		require.NoError(t, b.Revoke(ctx, key.ID))
		_, err = b.Authenticate(ctx, secret)
		require.ErrorIs(t, err, ErrUnauthorized, "at once where it was revoked")

		b.advance(CacheTTL - 1)
		_, err = elsewhere.Authenticate(ctx, secret)
		require.NoError(t, err, "elsewhere still remembered")
		b.advance(1)
		_, err = elsewhere.Authenticate(ctx, secret)
		require.ErrorIs(t, err, ErrUnauthorized, "and no longer than CacheTTL")

		require.ErrorIs(t, b.Revoke(ctx, key.ID), ErrNotFound)
		names, err := b.client.Keys(ctx, "*").Result()
		require.NoError(t, err)
		require.Empty(t, names, "nothing is left behind")
	})
}

func TestExpiredKey(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		secret, key, err := b.Create(ctx, "acme", Submit, "", start.Add(time.Second))
		require.NoError(t, err)

		b.advance(time.Second - 1)
		_, err = b.Authenticate(ctx, secret)
		require.NoError(t, err)
		b.advance(1)
		_, err = b.Authenticate(ctx, secret) // remembered, and yet expired
		require.ErrorIs(t, err, ErrUnauthorized)
		require.ErrorContains(t, err, "expired")

		keys, err := b.List(ctx)
		require.NoError(t, err)
		require.Equal(t, []Key{key}, keys, "still listed")
		require.True(t, keys[0].Expired(b.now()))
	})
}

func TestAny(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, b *bundle) {
		anyKeys, err := b.Any(t.Context())
		require.NoError(t, err)
		require.False(t, anyKeys)

		_, key, err := b.Create(t.Context(), "acme", Submit, "", time.Time{})
		require.NoError(t, err)
		anyKeys, err = b.Any(t.Context())
		require.NoError(t, err)
		require.True(t, anyKeys)

		require.NoError(t, b.Revoke(t.Context(), key.ID))
		anyKeys, err = b.Any(t.Context())
		require.NoError(t, err)
		require.False(t, anyKeys)
	})
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t, newClient(t, "tcp", miniredis.RunT(t).Addr()))
	tests := map[string]struct {
		owner   string
		role    Role
		label   string
		expires time.Time
		want    string
	}{
		"no owner":        {"", Submit, "", time.Time{}, "the owner is empty"},
		"blank in owner":  {"a b", Submit, "", time.Time{}, "' ' at position 2"},
		"long owner":      {strings.Repeat("a", 129), Submit, "", time.Time{}, "129 characters"},
		"unknown role":    {"acme", "root", "", time.Time{}, "allowed: submit, viewer, operator"},
		"long label":      {"acme", Submit, strings.Repeat("a", 129), time.Time{}, "at most 128"},
		"label of lines":  {"acme", Submit, "a\nb", time.Time{}, "one line of text"},
		"expires in past": {"acme", Submit, "", start, "which is past"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret, _, err := b.Create(t.Context(), test.owner, test.role, test.label, test.expires)
			require.ErrorContains(t, err, test.want)
			require.Empty(t, secret)
			require.Zero(t, b.trips.Load(), "nothing is written")
		})
	}
}

// A crash between the two writes of Create leaves an entry of the index.
func TestIndexWithoutRecord(t *testing.T) {
	t.Parallel()
	onEachRedis(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		require.NoError(t, b.client.HSet(ctx, indexKey, "key_x", digest("x")).Err())
		keys, err := b.List(ctx)
		require.NoError(t, err)
		require.Empty(t, keys)
		require.NoError(t, b.Revoke(ctx, "key_x"))
		require.ErrorIs(t, b.Revoke(ctx, "key_x"), ErrNotFound)
	})
}

// A key that works is listed, whatever breaks in between.
func TestCreateWritesTheIndexFirst(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	b := setup(t, newClient(t, "tcp", server.Addr()))
	b.client.AddHook(failAfter{b.trips, 1})
	_, _, err := b.Create(t.Context(), "acme", Submit, "", time.Time{})
	require.ErrorIs(t, err, ErrUnavailable)
	require.Equal(t, []string{indexKey}, server.Keys())
}

// A record that is gone, but listed, can still be revoked.
func TestRevokeRemovesTheRecordFirst(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	b := setup(t, newClient(t, "tcp", server.Addr()))
	_, key, err := b.Create(t.Context(), "acme", Submit, "", time.Time{})
	require.NoError(t, err)
	b.client.AddHook(failAfter{b.trips, 4}) // two of Create, HGET, DEL
	require.ErrorIs(t, b.Revoke(t.Context(), key.ID), ErrUnavailable)
	require.Equal(t, []string{indexKey}, server.Keys())
}

func TestDamagedRecordOpensNothing(t *testing.T) {
	t.Parallel()
	damages := map[string]map[string]any{
		"role":    {"role": "root"},
		"owner":   {"owner": ""},
		"created": {"created": "yesterday"},
		"expires": {"expires": ""},
		"check":   {"check": strings.Repeat("0", 32)},
		"uncheck": {"check": ""},
	}
	for field, damage := range damages {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			b := setup(t, newClient(t, "tcp", miniredis.RunT(t).Addr()))
			secret, key, err := b.Create(t.Context(), "acme", Operator, "", time.Time{})
			require.NoError(t, err)
			require.NoError(t, b.client.HSet(t.Context(), recordPrefix+digest(secret)[:digestLength/2], damage).Err())

			_, err = b.Authenticate(t.Context(), secret)
			require.ErrorIs(t, err, ErrUnauthorized)
			keys, err := b.List(t.Context())
			require.NoError(t, err)
			require.Len(t, keys, 1)
			require.Equal(t, key.ID, keys[0].ID, "it can be revoked")
		})
	}
}

func TestStoreAway(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	b := setup(t, newClient(t, "tcp", server.Addr()))
	secret, key, err := b.Create(t.Context(), "acme", Submit, "", time.Time{})
	require.NoError(t, err)
	_, err = b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	server.Close()

	_, err = b.Authenticate(t.Context(), secret)
	require.NoError(t, err, "remembered")
	b.advance(CacheTTL)
	for name, call := range map[string]func(context.Context) error{
		"Authenticate": func(ctx context.Context) error { _, err := b.Authenticate(ctx, secret); return err },
		"Create": func(ctx context.Context) error {
			_, _, err := b.Create(ctx, "acme", Submit, "", time.Time{})
			return err
		},
		"List":   func(ctx context.Context) error { _, err := b.List(ctx); return err },
		"Revoke": func(ctx context.Context) error { return b.Revoke(ctx, key.ID) },
		"Any":    func(ctx context.Context) error { _, err := b.Any(ctx); return err },
	} {
		err := call(t.Context())
		require.ErrorIs(t, err, ErrUnavailable, name)
		require.NotErrorIs(t, err, ErrUnauthorized, name)
	}

	_, err = b.Authenticate(t.Context(), "nonsense")
	require.ErrorIs(t, err, ErrUnauthorized, "needs no store")

	require.NoError(t, server.Restart())
	_, err = b.Authenticate(t.Context(), secret)
	require.NoError(t, err, "an outage is not remembered")
}

func TestCallerLeaves(t *testing.T) {
	t.Parallel()
	b := setup(t, newClient(t, "tcp", miniredis.RunT(t).Addr()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.Authenticate(ctx, newSecret())
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorIs(t, err, context.Canceled)
}
