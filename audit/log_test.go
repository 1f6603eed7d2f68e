package audit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/audit"
	"onejob/redistest"
)

func list(t *testing.T, log *audit.Log, q audit.Query) audit.Page {
	t.Helper()
	page, err := log.List(t.Context(), q)
	require.NoError(t, err)
	return page
}

// A change is one line with its latest known outcome.
func TestRecordAndSettle(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		log := audit.New(rdb)
		e := audit.Entry{
			Actor: "operator:ann", KeyID: "key_1", Role: "operator", Action: "pause-provider", Target: "inkjet",
			Reason: "no paper", From: "10.0.0.1",
		}
		announced, err := log.Record(t.Context(), e)
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), announced.At, time.Minute)
		e.ID, e.At, e.Outcome = announced.ID, announced.At, audit.Attempted
		require.Equal(t, e, announced)
		require.Equal(t, []audit.Entry{e}, list(t, log, audit.Query{}).Entries, "nobody knows yet")

		require.NoError(t, log.Settle(t.Context(), announced, audit.Failed, "connection lost"))
		e.Outcome, e.Detail = audit.Failed, "connection lost"
		require.Equal(t, []audit.Entry{e}, list(t, log, audit.Query{}).Entries)
	})
}

func TestPages(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		log := audit.New(rdb)
		announced := make([]audit.Entry, 7)
		for i := range announced {
			var err error
			announced[i], err = log.Record(t.Context(), audit.Entry{Actor: "ann", Action: "x", Target: fmt.Sprint(i)})
			require.NoError(t, err)
		}
		for _, e := range announced { // all outcomes come after all announcements, so on the first page
			require.NoError(t, log.Settle(t.Context(), e, audit.Done, ""))
		}
		var targets []string
		q := audit.Query{Limit: 3}
		for range 3 {
			page := list(t, log, q)
			for _, e := range page.Entries {
				require.Equal(t, audit.Done, e.Outcome, "also where the outcome is on a page before")
				targets = append(targets, e.Target)
			}
			q.After = page.Next
		}
		require.Empty(t, q.After, "that was the last")
		require.Equal(t, strings.Split("6543210", ""), targets)
	})
}

func TestFilters(t *testing.T) {
	t.Parallel()
	log := audit.New(redistest.Mini(t))
	for _, e := range []audit.Entry{
		{Actor: "operator:ann", KeyID: "key_A", Action: "login", Outcome: audit.Done},
		{Actor: "operator:bob", KeyID: "key_B", Action: "pause-provider", Target: "inkjet", Outcome: audit.Done},
		{Actor: "operator:bob", KeyID: "key_B", Action: "pause-provider", Target: "inkjet-2", Outcome: audit.Refused},
	} {
		_, err := log.Record(t.Context(), e)
		require.NoError(t, err)
	}
	for name, tt := range map[string]struct {
		q    audit.Query
		want int
	}{
		"all":          {audit.Query{}, 3},
		"actor":        {audit.Query{Actor: "ANN"}, 1},
		"key":          {audit.Query{Actor: "key_b"}, 2},
		"action":       {audit.Query{Action: "login"}, 1},
		"not a part":   {audit.Query{Action: "pause"}, 0},
		"target":       {audit.Query{Target: "INKJET"}, 2},
		"whole target": {audit.Query{TargetIs: "inkjet"}, 1},
		"outcome":      {audit.Query{Outcome: audit.Refused}, 1},
		"together":     {audit.Query{Actor: "bob", Outcome: audit.Done}, 1},
	} {
		require.Len(t, list(t, log, tt.q).Entries, tt.want, name)
	}
}

// A filter that matches little costs no more than a few looks; the page ends early
// and says where to go on.
func TestASearchIsBounded(t *testing.T) {
	t.Parallel()
	rdb := redistest.Mini(t)
	log := audit.New(rdb)
	_, err := log.Record(t.Context(), audit.Entry{Action: "needle"})
	require.NoError(t, err)
	pipe := rdb.Pipeline()
	for range 2500 {
		pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: "oj:audit", Values: []any{"action", "hay", "outcome", "done"}})
	}
	_, err = pipe.Exec(t.Context())
	require.NoError(t, err)
	page := list(t, log, audit.Query{Action: "needle"})
	require.Empty(t, page.Entries)
	require.NotEmpty(t, page.Next)
	page = list(t, log, audit.Query{Action: "needle", After: page.Next})
	require.Len(t, page.Entries, 1)
	require.Empty(t, page.Next)
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	t.Parallel()
	rdb := redistest.Mini(t)
	log := audit.New(rdb)
	_, err := log.Record(t.Context(), audit.Entry{Action: "x", Reason: strings.Repeat("é", 5000) + "\xff", Target: "\xff"})
	require.NoError(t, err)
	e := list(t, log, audit.Query{}).Entries[0]
	require.Equal(t, 600, utf8.RuneCountInString(e.Reason))
	require.True(t, strings.HasSuffix(e.Reason, "…"))
	require.True(t, utf8.ValidString(e.Target))

	pipe := rdb.Pipeline()
	for range 10500 {
		pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: "oj:audit", Values: []any{"action", "hay"}})
	}
	_, err = pipe.Exec(t.Context())
	require.NoError(t, err)
	_, err = log.Record(t.Context(), audit.Entry{Action: "x"})
	require.NoError(t, err)
	require.LessOrEqual(t, rdb.XLen(t.Context(), "oj:audit").Val(), int64(10000))
}

func TestACursorThatIsNone(t *testing.T) {
	t.Parallel()
	log := audit.New(redistest.Mini(t))
	for _, cursor := range []string{"x", "1", "-", "+", "1-", "1-1-1", "1-1 COUNT", "99999999999999999999-1"} {
		_, err := log.List(t.Context(), audit.Query{After: cursor})
		require.ErrorIs(t, err, audit.ErrBadCursor, cursor)
	}
}
