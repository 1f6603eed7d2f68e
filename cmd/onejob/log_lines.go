package main

import (
	"io"
	"sync"
)

// logLines writes the lines of a log that come at the same moment in one call: under
// load a line for each request would else take as long to hand to the system as it took
// to make. Lines keep their order. They are written at once, by a goroutine that goes on
// while there are any; a process that is killed in between, or ends by a panic, loses
// those.
//
// What it writes to can be slow: beyond mostPending, whoever has a line waits. An error
// of the writer is not told, as there is no other place to tell it.
type logLines struct {
	to      io.Writer
	mu      sync.Mutex
	changed sync.Cond // something was written
	pending []byte
	spare   []byte // the other buffer, while it is not being written
	writing bool
	taken   int64 // bytes
	written int64
}

// mostPending is how many bytes of lines may wait for those before.
const mostPending = 1 << 20

func newLogLines(to io.Writer) *logLines {
	l := &logLines{to: to}
	l.changed.L = &l.mu
	return l
}

// Write takes in whole lines.
func (l *logLines) Write(lines []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.pending) > mostPending {
		l.changed.Wait()
	}
	l.pending = append(l.pending, lines...)
	l.taken += int64(len(lines))
	if !l.writing {
		l.writing = true
		go l.write()
	}
	return len(lines), nil
}

func (l *logLines) write() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.pending) > 0 {
		lines := l.pending
		l.pending, l.spare = l.spare[:0], nil
		l.mu.Unlock()
		_, _ = l.to.Write(lines)
		l.mu.Lock()
		l.spare = lines
		l.written += int64(len(lines))
		l.changed.Broadcast()
	}
	l.writing = false
}

// flush returns when all lines taken in before are written.
func (l *logLines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for mark := l.taken; l.written < mark; {
		l.changed.Wait()
	}
}
