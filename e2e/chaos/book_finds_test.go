package chaos_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func openBookForTest(t *testing.T) (*book, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger")
	b, err := openBook(path)
	require.NoError(t, err)
	t.Cleanup(func() {
		close(b.in)
		<-b.closed
		require.NoError(t, b.file.Close())
	})
	return b, path
}

// Whoever is told that a line is written finds it in the file, whoever else writes.
func TestBook_IsOnTheDiskBeforeItIsTold(t *testing.T) {
	t.Parallel()
	b, path := openBookForTest(t)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			attempt := fmt.Sprint("job-a", i)
			l := b.enter(&line{entry: entry{Kind: "create", Attempt: attempt, Mode: "ok"}, effect: true})
			if read := newLedger(path); read.read() != nil || read.results[attempt] != l.Result || l.Result == "" {
				t.Errorf("%s: told %q, the file has %q", attempt, l.Result, read.results[attempt])
			}
		})
	}
	all.Wait()
	entries, err := readLedger(path)
	require.NoError(t, err)
	require.Len(t, entries, 200)
	for i, e := range entries {
		require.Equal(t, i+1, e.Seq)
	}
}

// What an operator relies on: past its time a create is refused, and an effect never comes.
func TestBook_TooLate(t *testing.T) {
	t.Parallel()
	b, path := openBookForTest(t)
	past := time.Now().Add(-time.Millisecond)
	l := b.enter(&line{entry: entry{Kind: "create", Attempt: "a1", Mode: "ok"}, effect: true, until: past})
	require.Equal(t, modeExpired, l.Mode)
	require.Empty(t, l.Result)
	b.enter(&line{entry: entry{Kind: "create", Attempt: "a2", Mode: "late"}})
	l = b.enter(&line{entry: entry{Kind: "effect", Attempt: "a2", Mode: "late"}, effect: true, until: past})
	require.Empty(t, l.Result)
	_, _, dead := b.tell("a2")
	require.True(t, dead, "a look-up may say that it failed")
	entries, err := readLedger(path)
	require.NoError(t, err)
	require.Len(t, entries, 2, "the effect that never came is not in it")
}

// A provider that was killed while it wrote leaves half a line, which says nothing; the
// next one goes on behind it, and knows that what had no effect yet never will.
func TestBook_AfterAKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger")
	whole := `{"seq":7,"kind":"create","attempt":"a1","mode":"late"}` + "\n"
	require.NoError(t, os.WriteFile(path, []byte(whole+`{"seq":8,"kind":"create","att`), 0o600))
	follower := newLedger(path)
	require.NoError(t, follower.read())
	require.Len(t, follower.entries, 1)

	b, err := openBook(path)
	require.NoError(t, err)
	mode, _, dead := b.tell("a1")
	require.Equal(t, "late", mode)
	require.True(t, dead)
	require.Equal(t, 8, b.enter(&line{entry: entry{Kind: "create", Attempt: "a2", Mode: "ok"}, effect: true}).Seq)
	close(b.in)
	<-b.closed
	require.NoError(t, b.file.Close())

	require.NoError(t, follower.read())
	require.Len(t, follower.entries, 2)
	created, result := follower.truth("a2")
	require.Equal(t, 8, created.Seq)
	require.Equal(t, "sheet-8", result)
}
