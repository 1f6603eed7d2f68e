package chaos_test

import (
	"bufio"
	"bytes"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"time"
)

// dreaded are lines that no log of a process may have.
var dreaded = [][]byte{[]byte("panic"), []byte("fatal error"), []byte("I5:"), []byte("ERR user_script"), []byte("ERR Error running script")}

// logsClean looks for them.
func (w *world) logsClean() error {
	for _, p := range append(w.onejobs(), w.provider) {
		if err := logClean(w.log(p)); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) log(p *process) string { return filepath.Join(w.dir, p.name+".log") }

func logClean(path string) error {
	for line, err := range linesOf(path) {
		if err != nil {
			return err
		}
		for _, word := range dreaded {
			if bytes.Contains(line, word) {
				return fmt.Errorf("%s: %.2000s", filepath.Base(path), line)
			}
		}
	}
	return nil
}

// linesOf reads a log line by line; an error is the last.
func linesOf(path string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		file, err := os.Open(path)
		if err != nil {
			yield(nil, fmt.Errorf("opening a log: %w", err))
			return
		}
		defer func() { _ = file.Close() }()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			if !yield(lines.Bytes(), nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, fmt.Errorf("reading a log: %w", err))
		}
	}
}

// muchTooLong is running for so long that somebody should look why.
const muchTooLong = time.Minute

// tellOfLongest writes the logs' lines of the job whose attempt was running the longest,
// if that was much too long: in the end the files are gone.
func (w *world) tellOfLongest(f *figures) {
	if f.Longest < seconds(muchTooLong.Seconds()) {
		return
	}
	fmt.Fprintf(os.Stderr, "an attempt of %s was running for %.0f s:\n", f.LongestOf, f.Longest)
	for _, p := range w.onejobs() {
		for line, err := range linesOf(w.log(p)) {
			if err != nil {
				fmt.Fprintln(os.Stderr, p.name, err)
			} else if bytes.Contains(line, []byte(f.LongestOf)) {
				fmt.Fprintf(os.Stderr, "%s %s\n", p.name, line)
			}
		}
	}
}
