package chaos_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// dreaded are lines that no log of a process may have.
var dreaded = [][]byte{[]byte("panic"), []byte("fatal error"), []byte("I5:"), []byte("ERR user_script"), []byte("ERR Error running script")}

// logsClean looks for them.
func (w *world) logsClean() error {
	for _, p := range append(w.onejobs(), w.provider) {
		if err := logClean(filepath.Join(w.dir, p.name+".log")); err != nil {
			return err
		}
	}
	return nil
}

func logClean(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening a log: %w", err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		for _, word := range dreaded {
			if bytes.Contains(lines.Bytes(), word) {
				return fmt.Errorf("%s: %.2000s", filepath.Base(path), lines.Text())
			}
		}
	}
	return lines.Err()
}
