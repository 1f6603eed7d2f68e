// Package balancer plays the configurations of deploy/haproxy.cfg and
// deploy/nginx.conf, with the real HAProxy and nginx, in front of processes of
// onejob and of backends that fail on purpose. Only addresses and waits are
// replaced.
package balancer

import (
	"os"
	"testing"
	"time"

	"onejob/e2e/program"
)

// patience bounds every wait of these tests.
const patience = 40 * time.Second

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }
