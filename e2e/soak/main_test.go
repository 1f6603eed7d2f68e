// Package soak_test runs onejob's binaries for a long time at a steady rate, kills
// one of them now and then, and looks whether anything grows: memory, goroutines,
// open files, what an idle process costs, keys in Redis (docs/reliability.md).
package soak_test

import (
	"fmt"
	"os"
	"testing"

	"onejob/e2e/program"
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(providerEnv); addr != "" {
		if err := runProvider(addr); err != nil {
			fmt.Fprintln(os.Stderr, "provider:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(program.Main(m))
}
