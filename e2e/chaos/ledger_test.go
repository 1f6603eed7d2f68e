package chaos_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// entry is one line of the ledger. A create is written, and on the disk, before
// anything is answered; an effect that comes later is a line of its own.
type entry struct {
	Seq     int       `json:"seq"`
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"` // create or effect
	Key     string    `json:"key"`
	Attempt string    `json:"attempt"`
	Press   string    `json:"press"` // which provider
	Mode    string    `json:"mode"`
	Result  string    `json:"result,omitempty"` // set where there was an effect
}

// ledger follows the provider's file. It gives whole lines only: what a killed
// provider left half written does not count.
type ledger struct {
	path string

	mu      sync.Mutex
	offset  int64
	half    []byte
	entries []entry
	created map[string]entry  // by attempt: its first create
	results map[string]string // by attempt
}

func newLedger(path string) *ledger {
	return &ledger{path: path, created: map[string]entry{}, results: map[string]string{}}
}

// read takes in what was written since it read last.
func (l *ledger) read() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	file, err := os.Open(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // nothing was created yet
	}
	if err != nil {
		return fmt.Errorf("opening the ledger: %w", err)
	}
	defer func() { _ = file.Close() }()
	more, err := io.ReadAll(io.NewSectionReader(file, l.offset, 1<<62))
	if err != nil {
		return fmt.Errorf("reading the ledger: %w", err)
	}
	l.offset += int64(len(more))
	l.half = append(l.half, more...)
	for {
		line, after, whole := bytes.Cut(l.half, []byte("\n"))
		if !whole {
			l.half = bytes.Clone(l.half)
			return nil
		}
		l.half = after
		var e entry
		if json.Unmarshal(line, &e) == nil {
			l.take(e)
		}
	}
}

func (l *ledger) take(e entry) {
	l.entries = append(l.entries, e)
	if _, again := l.created[e.Attempt]; e.Kind == "create" && !again {
		l.created[e.Attempt] = e
	}
	if e.Result != "" {
		l.results[e.Attempt] = e.Result
	}
}

// truth is what the ledger knows of an attempt.
func (l *ledger) truth(attempt string) (created entry, result string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.created[attempt], l.results[attempt]
}

// readLedger gives all of it.
func readLedger(path string) ([]entry, error) {
	l := newLedger(path)
	err := l.read()
	return l.entries, err
}
