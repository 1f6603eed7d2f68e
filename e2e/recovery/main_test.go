// Package recovery_test proves with real processes that nothing is lost and
// nothing is done twice: onejob's own binaries, a redis-server that can be killed,
// and a provider that counts, in a process of its own, what it was asked for.
//
// Every test ends with the same check (settled): no attempt was created twice at
// the provider, every job has ended or says why it is unknown, and `onejob fsck`
// finds nothing.
package recovery_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"onejob/e2e/program"
)

// together is how many tests run at once. They wait most of the time: for leases
// to lapse, for processes to start.
const together = "16"

func TestMain(m *testing.M) {
	if os.Getenv(providerEnv) != "" {
		if err := runProvider(os.Getenv(providerEnv)); err != nil {
			fmt.Fprintln(os.Stderr, "provider:", err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == flag.Lookup("test.parallel").DefValue {
		_ = flag.Set("test.parallel", together)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = program.Remove()
		os.Exit(code)
	}))
}

// needs skips a test where what it is made of is missing, or in a short run.
func needs(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		require.Empty(t, os.Getenv("ONEJOB_REQUIRE_REDIS"), "redis-server is missing")
		t.Skip("redis-server is not installed")
	}
	t.Parallel()
}
