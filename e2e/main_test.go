// Package e2e tests the whole of onejob: processes over one Redis, with
// providers that do as they are told.
package e2e

import (
	"os"
	"testing"

	"onejob/e2e/program"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }
