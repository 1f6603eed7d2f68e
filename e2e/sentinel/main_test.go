// Package sentinel_test has onejob's processes work over a master, two replicas and
// three sentinels, all started from redis-server alone, while the master is killed or
// stops and comes back as what it was, again and again.
//
// ONEJOB_FAILOVERS says how many times, ONEJOB_SEED when and with which jobs (docs/reliability.md).
package sentinel_test

import (
	"os"
	"testing"

	"onejob/e2e/program"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }
