// Package tracing_test follows traces through whole processes: from a caller's
// request through the queue to the provider, in one process and across two.
package tracing_test

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if made != "" {
			_ = os.RemoveAll(filepath.Dir(made))
		}
		os.Exit(code)
	}))
}
