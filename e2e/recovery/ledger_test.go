package recovery_test

import (
	"bufio"
	"encoding/json"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// entry is one request the provider was sent, written down before anything else
// is done with it.
type entry struct {
	Kind     string    `json:"kind"` // create, lookup or cancel
	Provider string    `json:"provider"`
	Attempt  string    `json:"attempt"`
	Key      string    `json:"key,omitempty"`  // the Idempotency-Key
	Body     string    `json:"body,omitempty"` // SHA-256
	At       time.Time `json:"at"`
}

// ledger is append-only: what was received stays received, whatever becomes of
// the process.
type ledger struct {
	mu   sync.Mutex
	file *os.File
}

func openLedger(path string) (*ledger, error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &ledger{file: file}, nil
}

func (l *ledger) add(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.file.Write(append(line, '\n'))
	return err
}

// entries are those of a kind, oldest first.
func (w *world) entries(kind string) []entry {
	w.t.Helper()
	file, err := os.Open(w.ledger)
	require.NoError(w.t, err)
	defer func() { _ = file.Close() }()
	var found []entry
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var e entry
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Kind == kind { // the last line may be half written
			found = append(found, e)
		}
	}
	require.NoError(w.t, lines.Err())
	return found
}

// creates counts the creates of every attempt.
func (w *world) creates() map[string]int {
	w.t.Helper()
	counted := map[string]int{}
	for _, e := range w.entries("create") {
		counted[e.Attempt]++
	}
	return counted
}

// onceEach is the heart of it all: no attempt was created twice (I2).
func onceEach(t *testing.T, creates map[string]int) {
	t.Helper()
	for attempt, n := range creates {
		require.LessOrEqual(t, n, 1, "attempt %s was created %d times at the provider", attempt, n)
	}
}
