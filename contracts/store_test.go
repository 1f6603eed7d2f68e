package contracts_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/contracts"
	"onejob/redistest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, store := t.Context(), contracts.NewStore(rdb)
		pair := contracts.Pair{Route: "summary", Provider: "gpt"}

		record, err := store.Get(ctx, pair)
		require.NoError(t, err)
		require.Equal(t, contracts.Record{Pair: pair}, record)
		require.ErrorIs(t, record.Valid("v1:b", issued), contracts.ErrNoCertificate)

		cert := certificate("v1:b")
		require.NoError(t, store.Put(ctx, cert))
		record, err = store.Get(ctx, pair)
		require.NoError(t, err)
		require.Equal(t, cert, record.Certificate)
		require.NoError(t, record.Valid("v1:b", issued))
		require.Equal(t, []string{"oj:certificate:summary:gpt"}, rdb.Keys(ctx, "*").Val())

		breach := contracts.Breach{At: issued, Binding: "v1:b", Why: "schema not proven"}
		require.NoError(t, store.Break(ctx, pair, breach))
		record, err = store.Get(ctx, pair)
		require.NoError(t, err)
		require.Equal(t, cert, record.Certificate, "it stays to be seen")
		require.ErrorIs(t, record.Valid("v1:b", issued), contracts.ErrBroken)
		require.ErrorIs(t, record.Valid("v1:c", issued), contracts.ErrVoid, "a breach of something else does not count")

		require.NoError(t, store.Put(ctx, cert))
		other := contracts.Pair{Route: "summary", Provider: "other"}
		records, err := store.All(ctx, other, pair)
		require.NoError(t, err)
		require.Nil(t, records[0].Certificate)
		require.Equal(t, other, records[0].Pair)
		require.NoError(t, records[1].Valid("v1:b", issued), "a new certificate is over the breach")
		records, err = store.All(ctx)
		require.NoError(t, err)
		require.Empty(t, records)

		require.NoError(t, rdb.HSet(ctx, "oj:certificate:summary:gpt", "certificate", "{").Err())
		_, err = store.Get(ctx, pair)
		require.ErrorContains(t, err, "reading the certificate of gpt for summary")
	})
}

func TestStore_Turn(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, store := t.Context(), contracts.NewStore(rdb)
		pair := contracts.Pair{Route: "summary", Provider: "gpt"}
		for _, want := range []bool{true, false} {
			mine, err := store.Turn(ctx, pair, "v1:b", time.Hour)
			require.NoError(t, err)
			require.Equal(t, want, mine)
		}
		mine, err := store.Turn(ctx, pair, "v1:c", time.Hour)
		require.NoError(t, err)
		require.True(t, mine, "what is bound anew is verified anew")
		require.Positive(t, rdb.PTTL(ctx, "oj:certificate:summary:gpt:turn:v1:b").Val())
	})
}

// What a verification found is kept; what was inconclusive changes nothing.
func TestStore_Keep(t *testing.T) {
	t.Parallel()
	rdb := redistest.Mini(t)
	ctx, store := t.Context(), contracts.NewStore(rdb)
	var server *scripted
	var status int
	var content string
	server = serve(t, func(_ chat, a *reply) {
		if status != 0 {
			a.status = status
		}
		if content != "" {
			a.content = content
		}
	})
	c := parse(t, "prompts: [a]\nrequire: [schema]\ndefaultTest: {assert: [{type: is-json}]}\ntests: [{}]")
	target := target(t, server.URL)
	binding, err := contracts.Bind(target, c)
	require.NoError(t, err)
	keep := func() error {
		report := verify(t, c, target, 1)
		require.NoError(t, store.Keep(ctx, report, time.Now()))
		record, err := store.Get(ctx, report.Pair)
		require.NoError(t, err)
		return record.Valid(binding, time.Now())
	}
	require.NoError(t, keep())
	status = 503
	require.NoError(t, keep(), "a provider that is down breaks no contract")
	status, content = 0, "prose"
	require.ErrorIs(t, keep(), contracts.ErrBroken)
	status, content = 503, ""
	require.ErrorIs(t, keep(), contracts.ErrBroken, "nor does it mend one")
	status = 0
	require.NoError(t, keep())
}
