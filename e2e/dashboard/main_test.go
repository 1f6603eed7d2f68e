// Package dashboard looks at the operators' pages as a person does: in a real
// browser, at a real process.
package dashboard

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	code := m.Run()
	endBrowser()
	removeBinary()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println("goroutines left behind:", err.Error())
			code = 1
		}
	}
	os.Exit(code)
}
