// Package e2e tests the whole of onejob: processes over one Redis, with
// providers that do as they are told.
package e2e

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	code := m.Run()
	removeBinary()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println("goroutines left behind:", err.Error())
			code = 1
		}
	}
	os.Exit(code)
}
