// Package webhook has a receiver that nobody here wrote verify deliveries: a node
// process with the package standardwebhooks.
package webhook

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience bounds every wait of these tests.
const patience = time.Minute

func TestMain(m *testing.M) {
	code := m.Run()
	if installed.temporary {
		_ = os.RemoveAll(installed.dir)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}
