package recovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// Where the provider declares that it dedupes, the identical create is repeated
// inside the window: the same attempt, key and body. The counting provider does
// not dedupe; what is asked of it can be compared.
func TestRepeat_InsideTheWindow(t *testing.T) {
	w := reconciling(t, setting{press: ", idempotent_create: {window: 1h}"})
	id := w.submit("key", `{"press":"cut"}`)
	w.awaitState(id, jobs.Unknown)
	within(t, 30*time.Second, "asked again", func() bool { w.hasten(jobs.DueLookup); return len(w.entries("create")) >= 3 })
	creates := w.entries("create")
	for _, again := range creates[1:] {
		require.Equal(t, creates[0].Attempt, again.Attempt)
		require.Equal(t, creates[0].Key, again.Key)
		require.Equal(t, attemptID(id, 1), again.Key)
		require.Equal(t, creates[0].Body, again.Body, "the identical create")
	}
	require.Len(t, w.job(id).Attempts, 1, "and no other attempt")
	w.ask(id, "/cancel", `{"reason":"enough"}`)
	w.fsckClean()
}

func TestRepeat_NeverAfterTheWindow(t *testing.T) {
	w := reconciling(t, setting{press: ", idempotent_create: {window: 1500ms}"})
	id := w.submit("key", `{"press":"cut"}`)
	w.awaitState(id, jobs.Unknown)
	w.pass(2 * time.Second)
	before := len(w.entries("create"))
	require.LessOrEqual(t, before, 2)
	for range 3 {
		w.hasten(jobs.DueLookup)
		w.pass(1500 * time.Millisecond)
	}
	require.Len(t, w.entries("create"), before)
	require.Equal(t, jobs.Unknown, w.job(id).State)
	w.ask(id, "/cancel", `{"reason":"enough"}`)
	w.fsckClean()
}

func TestRepeat_NeverWithoutTheDeclaration(t *testing.T) {
	w := reconciling(t, setting{})
	id := w.submit("key", `{"press":"cut"}`)
	w.awaitState(id, jobs.Unknown)
	for range 4 {
		w.hasten(jobs.DueLookup)
		w.pass(1500 * time.Millisecond)
	}
	require.Equal(t, jobs.Unknown, w.job(id).State)
	w.settled()
}
