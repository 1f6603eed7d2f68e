package recovery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// witness is a process that watches a store: what it was told of rewinds.
type witness struct {
	*jobs.Store
	rdb *redis.Client

	mu      sync.Mutex
	rewinds []jobs.Rewound
}

func (s *server) witness() *witness {
	w := &witness{}
	clockwork := jobs.NewClockwork(func(r jobs.Rewound) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.rewinds = append(w.rewinds, r)
	})
	w.rdb = redis.NewClient(&redis.Options{Addr: s.addr(), OnConnect: clockwork.OnConnect, MaxRetries: 5})
	w.Store = jobs.NewStore(w.rdb, jobs.Options{Clockwork: clockwork})
	s.t.Cleanup(func() { _, _ = w.Close(), w.rdb.Close() })
	return w
}

func (w *witness) seen() []jobs.Rewound {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]jobs.Rewound(nil), w.rewinds...)
}

func (w *witness) submit(t *testing.T, key string) string {
	t.Helper()
	s, err := w.Submit(t.Context(), jobs.Submission{
		Owner: "dev", Key: key, Fingerprint: "v1:x", Route: "print", Provider: "press", Input: json.RawMessage(`{}`),
	})
	require.NoError(t, err)
	return s.Job.ID
}

func (w *witness) claim(ctx context.Context, id string) error { return w.claimAttempt(ctx, id, 1) }

func (w *witness) claimAttempt(ctx context.Context, id string, n int) error {
	_, err := w.Claim(ctx, jobs.ClaimRequest{JobID: id, Attempt: n, Token: jobs.NewOp(), Provider: "press", Deadline: time.Minute})
	return err
}

func TestClockwork_RestartsAreNotNoticed(t *testing.T) {
	needs(t)
	s := newServer(t)
	w := s.witness()
	for i := range 20 {
		w.submit(t, fmt.Sprint("key-", i))
	}
	s.kill()
	s.start()
	require.NoError(t, w.rdb.Ping(t.Context()).Err())
	w.submit(t, "after")
	s.terminate(20 * time.Second)
	s.start()
	require.NoError(t, w.rdb.Ping(t.Context()).Err())
	require.Empty(t, w.seen())
}

// Only the partition that went back is dealt with, once, whoever else notices;
// nothing is claimed until the others have had time to look.
func TestClockwork_NoticesOnce(t *testing.T) {
	needs(t)
	s := newServer(t)
	knows, other, late := s.witness(), s.witness(), s.witness()
	kept := knows.submit(t, "kept")
	older := s.remember()
	require.NoError(t, knows.claim(t.Context(), kept))
	require.NoError(t, other.rdb.Ping(t.Context()).Err())
	_, err := other.Get(t.Context(), kept)
	require.NoError(t, err)
	_, err = other.Suspect(t.Context(), jobs.Suspicion{JobID: kept, Attempt: 1}) // refused; it learns the seq
	require.NoError(t, err)
	s.goBack(older)

	require.NoError(t, knows.rdb.Ping(t.Context()).Err())
	seen := knows.seen()
	require.Len(t, seen, 1)
	require.Less(t, seen[0].Found, seen[0].Known)
	require.Equal(t, 1, seen[0].Suspected)
	job, err := knows.Get(t.Context(), kept)
	require.NoError(t, err)
	require.Equal(t, "store_rewound", job.Attempts[0].Reason)

	require.NoError(t, other.rdb.Ping(t.Context()).Err())
	require.NoError(t, late.rdb.Ping(t.Context()).Err())
	require.Empty(t, other.seen(), "it was dealt with already")
	require.Empty(t, late.seen())

	began := time.Now()
	fresh := knows.submit(t, "fresh")
	require.NoError(t, knows.claim(t.Context(), fresh))
	require.Greater(t, time.Since(began), time.Second, "claims wait until everybody has looked")
}

// An outcome of the lost future is still taken: its attempt is entitled.
func TestClockwork_LostAttemptStillSettles(t *testing.T) {
	needs(t)
	s := newServer(t)
	w := s.witness()
	id := w.submit(t, "kept")
	older := s.remember()
	require.NoError(t, w.claim(t.Context(), id))
	s.goBack(older)
	require.NoError(t, w.rdb.Ping(t.Context()).Err())
	reported, err := w.Finalize(t.Context(), jobs.Ending{JobID: id, Attempt: 1, Fence: 1}, json.RawMessage(`"done"`), nil)
	require.NoError(t, err)
	require.Empty(t, reported.Late)
	require.Equal(t, jobs.Succeeded, reported.State)
}

// What others write to the store that went back does not hide from the one who
// knows more that something was lost.
func TestClockwork_WritesMeanwhileHideNothing(t *testing.T) {
	needs(t)
	s := newServer(t)
	knows, other := s.witness(), s.witness()
	kept := knows.submit(t, "kept")
	older := s.remember()
	require.NoError(t, knows.claim(t.Context(), kept))
	s.goBack(older)

	for range 5 { // the seq of the partition is higher than ever
		require.NoError(t, other.Note(t.Context(), kept, 1, "seen", "by another"))
	}
	require.Empty(t, other.seen())
	require.NoError(t, knows.rdb.Ping(t.Context()).Err())
	require.Len(t, knows.seen(), 1)
	job, err := knows.Get(t.Context(), kept)
	require.NoError(t, err)
	require.Equal(t, jobs.Unknown, job.State)
}

// An answer lower than what is known is noticed without a new connection, and the
// verb that got it counts for nothing.
func TestClockwork_ALowerAnswerIsNoticed(t *testing.T) {
	needs(t)
	s := newServer(t)
	w := s.witness()
	id := w.submit(t, "kept")
	for range 3 {
		require.NoError(t, w.Note(t.Context(), id, 1, "seen", "again"))
	}
	seq, err := w.rdb.Keys(t.Context(), "oj:{*}:seq").Result()
	require.NoError(t, err)
	require.Len(t, seq, 1)
	require.NoError(t, w.rdb.Set(t.Context(), seq[0], 0, 0).Err())

	require.Error(t, w.claim(t.Context(), id), "a claim of a store that went back lets no call leave")
	require.Len(t, w.seen(), 1)
	job, err := w.Get(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "store_rewound", job.Attempts[0].Reason)
}

// An attempt of the lost future is on no record, and its call may have left: after a
// rewind nothing opens another one by itself (I2). A person does, with another number.
func TestClockwork_NoNextAttemptByItself(t *testing.T) {
	needs(t)
	s := newServer(t)
	w := s.witness()
	id, decided := w.submit(t, "kept"), w.submit(t, "decided")
	require.NoError(t, w.claim(t.Context(), id))
	require.NoError(t, w.claim(t.Context(), decided))
	older := s.remember()
	busy := jobs.Failure{Reason: "busy", Retryable: true, Policy: &jobs.Policy{
		MaxAttempts: 3, Tries: 3, Providers: []jobs.PolicyProvider{{Name: "press"}},
	}}
	reported, err := w.Fail(t.Context(), jobs.Ending{JobID: id, Attempt: 1, Fence: 1}, busy)
	require.NoError(t, err)
	require.Equal(t, 2, reported.Wakes[0].Attempt, "it may be called now")
	_, err = w.Fail(t.Context(), jobs.Ending{JobID: decided, Attempt: 1, Fence: 1}, busy)
	require.NoError(t, err)
	s.goBack(older)
	require.NoError(t, w.rdb.Ping(t.Context()).Err())

	// A look-up finds the refusal of attempt 1 again.
	reported, err = w.Fail(t.Context(), jobs.Ending{JobID: id, Attempt: 1, Fence: 1}, busy)
	require.NoError(t, err)
	require.Empty(t, reported.Wakes, "attempt 2 may have been called")
	job, err := w.Get(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, jobs.Failed, job.State)
	require.Equal(t, "store_rewound", job.Error.Code)
	require.NotEmpty(t, job.Error.Hint)
	changed, err := w.Open(t.Context(), jobs.OpenRequest{Decision: jobs.Decision{JobID: id}})
	require.NoError(t, err)
	require.Equal(t, 101, changed.Wakes[0].Attempt)
	require.NoError(t, w.claimAttempt(t.Context(), id, 101))

	// From there on it goes by itself again.
	reported, err = w.Fail(t.Context(), jobs.Ending{JobID: id, Attempt: 101, Fence: 2}, busy)
	require.NoError(t, err)
	require.Equal(t, 102, reported.Wakes[0].Attempt)

	// A person may also say so when he settles the attempt.
	changed, err = w.Resolve(t.Context(), jobs.Resolution{
		Decision: jobs.Decision{JobID: decided, Attempt: 1, Reason: "not in its list"}, Outcome: "failed", Then: "continue", Policy: busy.Policy,
	})
	require.NoError(t, err)
	require.Equal(t, 101, changed.Wakes[0].Attempt)
}
