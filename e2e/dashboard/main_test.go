// Package dashboard looks at the operators' pages as a person does: in a real
// browser, at a real process.
package dashboard

import (
	"os"
	"testing"

	"onejob/e2e/program"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m, endBrowser)) }
