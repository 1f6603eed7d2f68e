// Package events lets EventSource clients that nobody here wrote follow a job: that
// of a browser, of Node.js, and the npm package eventsource. They have no code of
// ours but what they are told in e2e/node/events.mjs.
package events

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience bounds every wait of these tests.
const patience = time.Minute

func TestMain(m *testing.M) {
	code := m.Run()
	if installed.temporary {
		_ = os.RemoveAll(installed.dir)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}
