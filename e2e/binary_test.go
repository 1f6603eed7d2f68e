package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// binary is onejob, built once for all tests that run it as a process.
var binary struct {
	once sync.Once
	dir  string
	path string
	out  string
	err  error
}

func buildBinary(t *testing.T) string {
	t.Helper()
	binary.once.Do(func() {
		if binary.dir, binary.err = os.MkdirTemp("", "onejob-e2e-"); binary.err != nil {
			return
		}
		binary.path = filepath.Join(binary.dir, "onejob")
		build := exec.Command("go", "build", "-o", binary.path, "../cmd/onejob")
		out, err := build.CombinedOutput()
		binary.out, binary.err = string(out), err
	})
	require.NoError(t, binary.err, binary.out)
	return binary.path
}

func removeBinary() {
	if binary.dir != "" {
		_ = os.RemoveAll(binary.dir)
	}
}
