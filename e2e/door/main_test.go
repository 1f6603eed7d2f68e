// Package door lets OpenAI's own clients, for JavaScript and for Go, talk to the
// OpenAI-compatible door, with their retries as they are and less patience than
// the provider needs. Counters stand before the door and at the provider.
package door

import (
	"os"
	"testing"
	"time"

	"onejob/e2e/program"
)

// patience bounds every wait of these tests.
const patience = time.Minute

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }
