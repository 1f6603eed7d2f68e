// Package chaos_test runs onejob's binaries on a real redis-server with a provider
// that keeps a ledger, kills, freezes and cuts all of them off from each other by a
// plan made from a seed, and then checks what is left: the ledger, the HTTP API and
// the trail (docs/reliability.md).
package chaos_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

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
	code := m.Run()
	if err := program.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err := goleak.Find(leaks...); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "goroutines left behind:", err)
		code = 1
	}
	os.Exit(code)
}

// leaks are toxiproxy's own: a toxic that is removed while it holds half a message
// leaves the two goroutines of that connection behind.
var leaks = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).read"),
	goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"),
	goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).write"),
}
