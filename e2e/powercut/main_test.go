// Package powercut_test cuts the power of Redis: redis-server runs under strace, is
// killed in the middle of load, and every file of its append-only directory is cut back
// to what its last completed fdatasync had covered. kill -9 alone would lose nothing:
// the pages would still be there.
//
// ONEJOB_CUTS says how many times, ONEJOB_SEED when and with which jobs (docs/reliability.md).
package powercut_test

import (
	"os"
	"testing"

	"onejob/e2e/program"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }
