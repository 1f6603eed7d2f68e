// Package program gives the end-to-end tests what they run as processes: onejob
// itself, and scripts for Node.js beside the packages they need. What is made for
// that is made once for all tests of a package, and gone with Main.
package program

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// folder is where this test process keeps what it makes.
var folder = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "onejob-e2e-")
	if err != nil {
		return "", fmt.Errorf("making a folder for programs: %w", err)
	}
	made.Lock()
	defer made.Unlock()
	made.dir = dir
	return dir, nil
})

var made struct {
	sync.Mutex
	dir string
}

// Main runs the tests, removes what was made for them, and fails them when they
// leave a goroutine behind. It returns the code to exit with. cleanup ends what the
// tests of a package share.
func Main(m *testing.M, cleanup ...func()) int {
	code := m.Run()
	for _, end := range cleanup {
		end()
	}
	if err := Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines left behind:", err)
			code = 1
		}
	}
	return code
}

// Remove removes what was made, for those who cannot use Main.
func Remove() error {
	made.Lock()
	defer made.Unlock()
	if made.dir == "" {
		return nil
	}
	return os.RemoveAll(made.dir)
}

func copyFiles(from, to string, names ...string) error {
	var errs []error
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), data, 0o600)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
