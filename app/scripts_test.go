package app

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/config"
	"onejob/redistest"
)

// unheard is a script that no Redis knows yet.
var unheard = redis.NewScript(`return 1`)

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
	require.ErrorIs(t, unheard.EvalSha(t.Context(), a.scripts, []string{"{0}:job"}).Err(), refused)
	require.NoError(t, a.carrier.Close())

	require.NoError(t, a.gather(nil))
	require.ErrorContains(t, unheard.EvalSha(t.Context(), a.scripts, []string{"{0}:job"}).Err(), "NOSCRIPT")
	require.Positive(t, a.pools().total, "its connection is not counted")
}
