package app

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/batch"
	"onejob/config"
	"onejob/redistest"
)

// unheard is a script that no Redis knows yet.
var unheard = redis.NewScript(`return 1`)

// TestScripts_ConnectionsAreShownFirst: also the connection that scripts share is looked
// at before it is used, or verbs would run on a store that went back in time (design
// §3); and it is counted.
func TestScripts_ConnectionsAreShownFirst(t *testing.T) {
	t.Parallel()
	here := connection{config.Redis{URL: "redis://" + redistest.Mini(t).Options().Addr + "/0"}}
	refused := errors.New("not to be used")
	ask := func(onConnect func(context.Context, *redis.Conn) error) (pools, error) {
		rdb, err := here.watched(onConnect)
		require.NoError(t, err)
		defer func() { require.NoError(t, rdb.Close()) }()
		scripts, err := batch.New(rdb, nil)
		require.NoError(t, err)
		err = unheard.EvalSha(t.Context(), scripts, []string{"{0}:job"}).Err()
		return (&App{rdb: rdb}).pools(), err
	}
	_, err := ask(func(context.Context, *redis.Conn) error { return refused })
	require.ErrorIs(t, err, refused)
	seen, err := ask(nil)
	require.ErrorContains(t, err, "NOSCRIPT")
	require.Positive(t, seen.total, "the connection of scripts is not counted")
}
