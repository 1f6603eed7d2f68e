package jobs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/lua"
	"onejob/redistest"
)

// lossy is a network that can lose the next reply to a verb: the command has arrived
// and was done, and the connection breaks before its answer is read.
type lossy struct {
	lose atomic.Bool
	lost atomic.Int64
}

type lossyConn struct {
	net.Conn
	network *lossy
	verb    atomic.Bool // the latest that was written is one
}

func (c *lossyConn) Write(p []byte) (int, error) {
	c.verb.Store(bytes.Contains(p, []byte("evalsha")) || bytes.Contains(p, []byte("fcall")))
	return c.Conn.Write(p)
}

func (c *lossyConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.verb.Load() && c.network.lose.CompareAndSwap(true, false) {
		c.network.lost.Add(1)
		_ = c.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

func (l *lossy) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &lossyConn{Conn: conn, network: l}, nil
}

// over is the same database over a lossy network. Its scripts are loaded before
// anything is lost, so that one command is one verb; functions by the first of them.
func over(t *testing.T, rdb redis.UniversalClient) (redis.UniversalClient, *lossy) {
	t.Helper()
	network := &lossy{}
	var client redis.UniversalClient
	switch rdb := rdb.(type) {
	case *redis.Client:
		options := *rdb.Options()
		options.Dialer = network.dial
		client = redis.NewClient(&options)
	case *redis.ClusterClient:
		client = redis.NewClusterClient(&redis.ClusterOptions{Addrs: rdb.Options().Addrs, Dialer: network.dial})
	}
	t.Cleanup(func() { _ = client.Close() })
	for _, script := range []*redis.Script{lua.Submit, lua.Claim, lua.Suspect, lua.Fail, lua.Open, lua.Finalize, lua.Cancel} {
		require.NoError(t, script.Load(t.Context(), client).Err()) // on every master of a Cluster
	}
	return client, network
}

// TestContract_LostReply: a verb is done and its reply lost; the client library
// sends it again by itself. It must recognise its own work: no duplicate, no
// conflict, no late result [idempot-js 185].
func TestContract_LostReply(t *testing.T) {
	t.Parallel()
	redistest.EachAndCluster(t, func(t *testing.T, rdb redis.UniversalClient) {
		client, network := over(t, rdb)
		b := setup(t, client)
		b.submit("functions are loaded")
		losing := func(what string, do func()) {
			t.Helper()
			before := network.lost.Load()
			network.lose.Store(true)
			do()
			require.Equal(t, before+1, network.lost.Load(), "%s: no reply was lost", what)
		}

		var job *jobs.Job
		losing("submit", func() {
			s, err := b.Submit(b.ctx, submission("k", `{"page":1}`))
			require.NoError(t, err)
			require.True(t, s.Created, "its own claim, not another's")
			require.Len(t, s.Wakes, 1)
			job = s.Job
		})
		require.Len(t, b.get(job.ID).Attempts, 1)

		request := jobs.ClaimRequest{JobID: job.ID, Attempt: 1, Token: "mine", Provider: "inkjet", Deadline: hourLong, Actor: "worker"}
		var claim *jobs.Claim
		losing("claim", func() {
			var err error
			claim, err = b.Claim(b.ctx, request)
			require.NoError(t, err)
		})

		losing("suspect", func() { b.suspect(claim) })
		losing("fail", func() {
			r := b.fail(claim, 1)
			require.Empty(t, r.Late)
		})
		losing("open", func() {
			changed, err := b.Open(b.ctx, jobs.OpenRequest{Decision: jobs.Decision{JobID: job.ID}})
			require.NoError(t, err)
			require.Len(t, changed.Wakes, 1)
			require.Equal(t, 2, changed.Wakes[0].Attempt)
		})
		require.Len(t, b.get(job.ID).Attempts, 2)
		second := b.claim(job.ID, 2)
		losing("finalize", func() {
			r, err := b.Finalize(b.ctx, ending(second), json.RawMessage(`"done"`), nil)
			require.NoError(t, err)
			require.Empty(t, r.Late, "its own result taken for a late one")
		})
		done := b.get(job.ID)
		require.Equal(t, jobs.Succeeded, done.State)
		require.Equal(t, 2, done.CompletedBy)
		require.Nil(t, done.Attempt(2).LateResult)
		require.Equal(t, int64(3), done.Version, "raised by the reopening and by the result, once each")

		last := b.submit("to be cancelled")
		losing("cancel", func() {
			changed, err := b.CancelJob(b.ctx, jobs.Decision{JobID: last.ID})
			require.NoError(t, err, "refused as if another had cancelled it")
			require.Equal(t, int64(2), changed.Job.Version)
		})
	})
}
