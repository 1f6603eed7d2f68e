package hostile

import (
	"bytes"
	"sync"
)

// watchedLog reads a process's log as it is written. It keeps the end of it, and
// the lines that must not be there: errors, panics, and what the runtime says.
type watchedLog struct {
	mu   sync.Mutex
	line []byte // begun
	last []byte
	bad  []string
	seen int // bad lines
}

const (
	keptTail = 16 << 10
	keptBad  = 30
)

func (l *watchedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(b)
	for {
		head, rest, ended := bytes.Cut(b, []byte("\n"))
		l.line = append(l.line, head...)
		if !ended {
			return n, nil
		}
		l.judge(l.line)
		l.line, b = l.line[:0], rest
	}
}

func (l *watchedLog) judge(line []byte) {
	l.last = append(append(l.last, line...), '\n')
	if len(l.last) > 2*keptTail {
		l.last = append([]byte(nil), l.last[len(l.last)-keptTail:]...)
	}
	ours := bytes.HasPrefix(line, []byte(`{"time":`))
	if ours && !bytes.Contains(line, []byte(`"level":"ERROR"`)) && !bytes.Contains(line, []byte("panic")) {
		return
	}
	l.seen++
	if len(l.bad) < keptBad {
		l.bad = append(l.bad, string(line))
	}
}

// wrong are the lines that must not be there, and how many there were.
func (l *watchedLog) wrong() ([]string, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.bad...), l.seen
}

func (l *watchedLog) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.last)
}
