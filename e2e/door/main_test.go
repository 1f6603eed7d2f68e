// Package door lets OpenAI's own clients, for JavaScript and for Go, talk to the
// OpenAI-compatible door, with their retries as they are and less patience than
// the provider needs. Counters stand before the door and at the provider.
package door

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
