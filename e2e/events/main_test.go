// Package events lets EventSource clients that nobody here wrote follow a job: that
// of a browser, of Node.js, and the npm package eventsource. They have no code of
// ours but what they are told in e2e/node/events.mjs.
package events

import (
	"os"
	"testing"
	"time"

	"onejob/e2e/program"
)

// patience bounds every wait of these tests.
const patience = time.Minute

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }
