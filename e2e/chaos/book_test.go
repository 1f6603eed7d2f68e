package chaos_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// book writes the ledger. Lines that come at one moment go to the disk together, and
// nobody is told before they are there.
type book struct {
	file *os.File
	in   chan *line
	seq  int
	// closed is closed when in was, and everything is written.
	closed chan struct{}

	mu      sync.Mutex
	started map[string]string // attempt → mode
	results map[string]string // attempt → result
	dead    map[string]bool   // no effect will come of it any more
}

// line is an entry on its way into the book.
type line struct {
	entry
	effect bool      // there is one
	until  time.Time // from then on it is not written as it is; zero: always is
	done   chan struct{}
}

// openBook reads what an earlier provider wrote: that is all it remembers.
func openBook(path string) (*book, error) {
	b := &book{in: make(chan *line, 4096), closed: make(chan struct{}), started: map[string]string{}, results: map[string]string{}, dead: map[string]bool{}}
	old, err := readLedger(path)
	if err != nil {
		return nil, err
	}
	for _, e := range old {
		b.remember(e)
	}
	for attempt := range b.started {
		b.dead[attempt] = b.results[attempt] == ""
	}
	if b.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	if _, err := b.file.WriteString("\n"); err != nil { // ends what a killed provider began
		return nil, fmt.Errorf("writing the ledger: %w", err)
	}
	go func() {
		defer close(b.closed)
		if err := b.write(); err != nil { // a provider that cannot keep its book is of no use
			panic(fmt.Errorf("ledger: %w", err))
		}
	}()
	return b, nil
}

func (b *book) remember(e entry) {
	b.seq = max(b.seq, e.Seq)
	if e.Kind == "create" {
		b.started[e.Attempt] = e.Mode
	}
	if e.Result != "" {
		b.results[e.Attempt] = e.Result
	}
}

// enter returns when the line is on the disk, or was left out.
func (b *book) enter(l *line) *line {
	l.done = make(chan struct{})
	b.in <- l
	<-l.done
	return l
}

func (b *book) write() error {
	for first := range b.in {
		batch := []*line{first}
		for more := true; more && len(batch) < 512; {
			select {
			case l, open := <-b.in:
				if more = open; open {
					batch = append(batch, l)
				}
			default:
				more = false
			}
		}
		if err := b.commit(batch); err != nil {
			return err
		}
		for _, l := range batch {
			close(l.done)
		}
	}
	return nil
}

func (b *book) commit(batch []*line) error {
	var text bytes.Buffer
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range batch {
		if !b.form(l) {
			continue
		}
		whole, err := json.Marshal(l.entry)
		if err != nil {
			return fmt.Errorf("writing a line: %w", err)
		}
		text.Write(append(whole, '\n'))
	}
	if _, err := b.file.Write(text.Bytes()); err != nil {
		return fmt.Errorf("appending: %w", err)
	}
	if err := b.file.Sync(); err != nil {
		return fmt.Errorf("syncing: %w", err)
	}
	for _, l := range batch {
		if l.Seq > 0 {
			b.remember(l.entry)
		}
	}
	return nil
}

// form makes the entry final. It is the last moment before the line is written, so
// what is too late is told here: a create that nobody may send any more is refused,
// and an effect that takes too long never comes. An operator relies on both.
func (b *book) form(l *line) bool {
	late := !l.until.IsZero() && time.Now().After(l.until)
	switch {
	case late && l.Kind == "effect":
		b.dead[l.Attempt] = true
		return false
	case late:
		l.Mode, l.effect = modeExpired, false
	}
	b.seq++
	l.Seq, l.At = b.seq, time.Now()
	if l.effect {
		l.Result = fmt.Sprintf("sheet-%d", l.Seq)
	}
	return true
}

// tell is what the book says of an attempt.
func (b *book) tell(attempt string) (mode, result string, dead bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.started[attempt], b.results[attempt], b.dead[attempt]
}
