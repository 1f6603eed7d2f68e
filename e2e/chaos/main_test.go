// Package chaos_test runs onejob's binaries on a real redis-server with a provider
// that keeps a ledger, kills, freezes and cuts all of them off from each other by a
// plan made from a seed, and then checks what is left: the ledger, the HTTP API and
// the trail (docs/reliability.md).
package chaos_test

import (
	"fmt"
	"os"
	"testing"

	"onejob/e2e/program"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(providerEnv); path != "" {
		if err := runProvider(path, os.Getenv(providerAddrEnv), seedOf(os.Getenv(seedEnv))); err != nil {
			fmt.Fprintln(os.Stderr, "provider:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(program.Main(m))
}
