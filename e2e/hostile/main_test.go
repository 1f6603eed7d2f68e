// Package hostile sends onejob's real binary what nobody should: requests made wrong
// in every way the description of the API and HTTP leave room for, clients that are
// slow, idle or greedy, and owners who ask for what is another's. It looks that the
// process answers all of it as it says it does, and is afterwards what it was before
// (docs/reliability.md).
package hostile

import (
	"os"
	"testing"

	"onejob/e2e/program"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }
