// Package webhook has a receiver that nobody here wrote verify deliveries: a node
// process with the package standardwebhooks.
package webhook

import (
	"os"
	"testing"
	"time"

	"onejob/e2e/program"
)

// patience bounds every wait of these tests.
const patience = time.Minute

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }
