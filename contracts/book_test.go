package contracts_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/contracts"
	"onejob/redistest"
)

type shelf struct {
	book    *contracts.Book
	store   *contracts.Store
	c       *contracts.Contract
	server  *scripted
	primary contracts.Target
	second  contracts.Target
}

func newShelf(t *testing.T, change func(chat, *reply)) shelf {
	t.Helper()
	s := shelf{store: contracts.NewStore(redistest.Mini(t)), server: serve(t, change)}
	s.c = parse(t, "prompts: [a]\noptions: {temperature: 0}\nrequire: [schema]\ndefaultTest: {assert: [{type: is-json}]}\ntests: [{}]")
	s.primary = target(t, s.server.URL)
	s.second = s.primary
	s.second.Provider = "other"
	s.book = contracts.NewBook(s.store)
	require.NoError(t, s.book.Add(s.c, s.primary))
	require.NoError(t, s.book.Add(s.c, s.second))
	return s
}

func TestBook(t *testing.T) {
	t.Parallel()
	s, ctx := newShelf(t, nil), t.Context()
	require.Same(t, s.c, s.book.Contract("summary"))
	require.Nil(t, s.book.Contract("print"))
	require.Len(t, s.book.Entries("", ""), 2)
	require.Len(t, s.book.Entries("summary", "other"), 1)
	require.Empty(t, s.book.Entries("print", ""))
	require.True(t, s.book.Bound("summary", []byte(`{"temperature":0}`)))
	require.False(t, s.book.Bound("summary", []byte(`{"temperature":0.1}`)))
	require.True(t, s.book.Bound("print", []byte(`{"temperature":0.1}`)))

	ids, err := s.book.Certificates(ctx, "summary")
	require.NoError(t, err)
	require.Empty(t, ids)

	report := verify(t, s.c, s.second, 1)
	require.NoError(t, s.store.Keep(ctx, report, time.Now()))
	ids, err = s.book.Certificates(ctx, "summary")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"other": report.Certificate.ID}, ids)

	standings, err := s.book.Standings(ctx)
	require.NoError(t, err)
	require.Equal(t, contracts.StateMissing, standings[0].State)
	require.Equal(t, "onejob contract verify --route summary --provider gpt", standings[0].Hint)
	require.Equal(t, contracts.StateValid, standings[1].State)
	require.Empty(t, standings[1].Why)

	// A process whose configuration says another model sees the same record as void.
	changed := contracts.NewBook(s.store)
	s.second.Model = "m-2"
	require.NoError(t, changed.Add(s.c, s.second))
	standings, err = changed.Standings(ctx)
	require.NoError(t, err)
	require.Equal(t, contracts.StateVoid, standings[0].State)
	ids, err = changed.Certificates(ctx, "summary")
	require.NoError(t, err)
	require.Empty(t, ids)

	var b bytes.Buffer
	require.NoError(t, contracts.WriteStandings(&b, standings))
	require.Contains(t, b.String(), "summary  other     void")
	require.Contains(t, b.String(), "have changed since it was issued")
}

func TestBook_States(t *testing.T) {
	t.Parallel()
	s, ctx := newShelf(t, nil), t.Context()
	binding := s.book.Entries("summary", "gpt")[0].Binding
	state := func(change func(*contracts.Certificate)) string {
		cert := certificate(binding)
		cert.IssuedAt, cert.ExpiresAt = time.Now(), time.Now().Add(time.Hour)
		change(cert)
		require.NoError(t, s.store.Put(ctx, cert))
		standings, err := s.book.Standings(ctx)
		require.NoError(t, err)
		require.Contains(t, contracts.States(), standings[0].State)
		return standings[0].State
	}
	require.Equal(t, contracts.StateValid, state(func(*contracts.Certificate) {}))
	require.Equal(t, contracts.StateExpired, state(func(c *contracts.Certificate) { c.ExpiresAt = time.Now() }))
	require.Equal(t, contracts.StateLacking, state(func(c *contracts.Certificate) { c.Proofs = nil }))
	require.NoError(t, s.store.Break(ctx, contracts.Pair{Route: "summary", Provider: "gpt"}, contracts.Breach{Binding: binding}))
	standings, err := s.book.Standings(ctx)
	require.NoError(t, err)
	require.Equal(t, contracts.StateBroken, standings[0].State)
}

// Of several processes one verifies, once in the time that is given.
func TestReverifier(t *testing.T) {
	t.Parallel()
	s := newShelf(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	reports := make(chan *contracts.Report, 10)
	done := make(chan error, 2)
	for range 2 {
		r := contracts.Reverifier{
			Book: s.book, Store: s.store, Every: time.Hour, Look: time.Millisecond, Runs: 2,
			Log: slog.New(slog.DiscardHandler), Observe: func(r *contracts.Report) { reports <- r },
		}
		go func() { done <- r.Run(ctx) }()
	}
	for range 2 {
		require.NotNil(t, (<-reports).Certificate)
	}
	require.Eventually(t, func() bool {
		ids, err := s.book.Certificates(ctx, "summary")
		return err == nil && len(ids) == 2
	}, 10*time.Second, time.Millisecond)
	cancel()
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.Empty(t, reports)
	require.EqualValues(t, 4, s.server.calls.Load())
}

// It is due when the pause is over, and finds what has broken meanwhile.
func TestReverifier_FindsABreach(t *testing.T) {
	t.Parallel()
	s := newShelf(t, func(_ chat, a *reply) { a.content = "prose" })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, e := range s.book.Entries("", "") {
		cert := certificate(e.Binding)
		cert.Provider = e.Target.Provider
		cert.IssuedAt, cert.ExpiresAt = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		require.NoError(t, s.store.Put(ctx, cert))
	}
	reports := make(chan *contracts.Report, 10)
	done := make(chan error, 1)
	r := contracts.Reverifier{
		Book: s.book, Store: s.store, Every: 2 * time.Hour, Look: time.Millisecond,
		Log: slog.New(slog.DiscardHandler), Observe: func(r *contracts.Report) { reports <- r },
	}
	go func() { done <- r.Run(ctx) }()
	select {
	case <-reports:
		t.Error("verified before it was due")
	case <-time.After(50 * time.Millisecond):
	}
	cancel()
	require.NoError(t, <-done)

	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r.Every = time.Hour
	go func() { done <- r.Run(ctx) }()
	for range 2 {
		require.NotNil(t, (<-reports).Breach(time.Now()))
	}
	cancel()
	require.NoError(t, <-done)
	ids, err := s.book.Certificates(t.Context(), "summary")
	require.NoError(t, err)
	require.Empty(t, ids)
	require.Error(t, contracts.Reverifier{}.Run(t.Context()))
}
