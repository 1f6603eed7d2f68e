// Package tracing_test follows traces through whole processes: from a caller's
// request through the queue to the provider, in one process and across two.
package tracing_test

import (
	"os"
	"testing"

	"onejob/e2e/program"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }
