package auth

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
)

// A session holds the digest of its key and ends with it.
func TestRecall(t *testing.T) {
	t.Parallel()
	b := setup(t, newClient(t, "tcp", miniredis.RunT(t).Addr()), DevKeys())
	ctx := t.Context()
	secret, key, err := b.Create(ctx, "acme", Viewer, "", start.Add(time.Hour))
	require.NoError(t, err)

	identity, err := b.Recall(ctx, Digest(secret))
	require.NoError(t, err)
	require.Equal(t, Identity{Owner: "acme", Role: Viewer, KeyID: key.ID}, identity)
	identity, err = b.Recall(ctx, Digest(DevOperatorKey))
	require.NoError(t, err)
	require.Equal(t, Operator, identity.Role)

	_, err = b.Authenticate(ctx, Digest(secret))
	require.ErrorIs(t, err, ErrUnauthorized, "the digest is not the key")
	_, err = b.Recall(ctx, secret)
	require.ErrorIs(t, err, ErrUnauthorized, "the key is not the digest")

	b.advance(time.Hour)
	_, err = b.Recall(ctx, Digest(secret))
	require.ErrorIs(t, err, ErrUnauthorized)

	secret, key, err = b.Create(ctx, "acme", Operator, "", time.Time{})
	require.NoError(t, err)
	_, err = b.Recall(ctx, Digest(secret))
	require.NoError(t, err)
	require.NoError(t, b.Revoke(ctx, key.ID))
	_, err = b.Recall(ctx, Digest(secret))
	require.ErrorIs(t, err, ErrUnauthorized)
}
