// Package logtest is for tests that read what is being logged.
package logtest

import (
	"bytes"
	"strings"
	"sync"
)

// Buffer keeps what is written to it and can be read meanwhile. The zero value is
// empty; it is safe for concurrent use.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Write(p)
	return len(p), nil
}

// String is all that has been written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Count is how often words have been written.
func (b *Buffer) Count(words string) int { return strings.Count(b.String(), words) }
