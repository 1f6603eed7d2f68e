// Package versions_test rolls two versions of onejob over each other under load: this
// build, and one whose records have the next schema (lua/schema_2.go). A provider in a
// process of its own counts what it is asked for.
package versions_test

import (
	"fmt"
	"os"
	"testing"

	"onejob/e2e/program"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(providerEnv); path != "" {
		if err := runProvider(path); err != nil {
			fmt.Fprintln(os.Stderr, "provider:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(program.Main(m))
}
