// Package balancer plays the configurations of deploy/haproxy.cfg and
// deploy/nginx.conf, with the real HAProxy and nginx, in front of processes of
// onejob and of backends that fail on purpose. Only addresses and waits are
// replaced.
package balancer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// patience bounds every wait of these tests.
const patience = 40 * time.Second

func TestMain(m *testing.M) {
	code := m.Run()
	if binary.dir != "" {
		_ = os.RemoveAll(binary.dir)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

var binary struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// onejob is the path of the real binary, built once for all tests.
func onejob(t *testing.T) string {
	t.Helper()
	binary.once.Do(func() {
		if binary.dir, binary.err = os.MkdirTemp("", "onejob-balancer-"); binary.err != nil {
			return
		}
		binary.path = filepath.Join(binary.dir, "onejob")
		build := exec.Command("go", "build", "-o", binary.path, "onejob/cmd/onejob")
		if out, err := build.CombinedOutput(); err != nil {
			binary.err = fmt.Errorf("building onejob: %w\n%s", err, out)
		}
	})
	require.NoError(t, binary.err)
	return binary.path
}
