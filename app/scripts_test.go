package app

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/config"
	"onejob/lua"
	"onejob/redistest"
)

// TestScripts_ConnectionsAreShownFirst: also the connection that scripts have for
// themselves is looked at before it is used, or verbs would run on a store that went
// back in time (design §3); and it is counted.
func TestScripts_ConnectionsAreShownFirst(t *testing.T) {
	t.Parallel()
	a := New(parse(t, oneProvider))
	a.redis = connection{config.Redis{URL: "redis://" + redistest.Mini(t).Options().Addr + "/0"}}
	rdb, err := a.redis.client()
	require.NoError(t, err)
	a.rdb = rdb
	t.Cleanup(func() { require.NoError(t, errors.Join(a.carrier.Close(), a.rdb.Close())) })

	refused := errors.New("not to be used")
	require.NoError(t, a.gather(func(context.Context, *redis.Conn) error { return refused }))
	require.ErrorIs(t, lua.Read.EvalSha(t.Context(), a.scripts, []string{"{0}:job", "{0}:data"}).Err(), refused)
	require.NoError(t, a.carrier.Close())

	require.NoError(t, a.gather(nil))
	require.ErrorContains(t, lua.Read.EvalSha(t.Context(), a.scripts, []string{"{0}:job", "{0}:data"}).Err(), "NOSCRIPT")
	require.Positive(t, a.pools().total, "its connection is not counted")
}
