package jobs_test

import (
	"context"
	"net"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
)

// A page costs a few round trips also where it is small and its filter matches
// nothing: else a request for one job would be tens of thousands of commands.
func TestList_SmallPagesOfWhatIsNotThereAreCheap(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		const stored = 300
		for i := range stored {
			b.submit("k" + strconv.Itoa(i))
		}
		trips := &roundTrips{}
		rdb.AddHook(trips)
		for _, q := range []jobs.Query{
			{Owner: "dev", Provider: "nobody", Limit: 1}, {Owner: "dev", State: jobs.Succeeded, Limit: 1}, {Provider: "nobody", Limit: 2}, {Route: "none", Limit: 20},
		} {
			trips.made.Store(0)
			page, err := b.List(b.ctx, q)
			require.NoError(t, err)
			require.Empty(t, page.Jobs)
			require.False(t, page.HasMore)
			require.LessOrEqual(t, trips.made.Load(), int64(20), "%+v", q)
		}
		page, err := b.List(b.ctx, jobs.Query{Owner: "dev", Route: "print", Limit: 1})
		require.NoError(t, err)
		require.Len(t, page.Jobs, 1)
		require.True(t, page.HasMore)
	})
}

// roundTrips counts what goes to the store.
type roundTrips struct{ made atomic.Int64 }

func (r *roundTrips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (r *roundTrips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		r.made.Add(1)
		return next(ctx, cmd)
	}
}

func (r *roundTrips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		r.made.Add(1)
		return next(ctx, cmds)
	}
}
