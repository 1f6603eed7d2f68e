package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// scripts is where they lie, seen from a package of tests.
var scripts = filepath.Join("..", "node")

// Script is the path of a script in e2e/node, beside the packages of npm. Without
// Node.js the test is skipped, or fails where ONEJOB_REQUIRE_NODE asks for it.
//
// Where the packages are not installed, they are in a folder of this process's own:
// the tests of other packages may run, and install, at the same time.
func Script(t testing.TB, name string) string {
	t.Helper()
	for _, command := range []string{"node", "npm"} {
		if _, err := exec.LookPath(command); err != nil {
			require.Empty(t, os.Getenv("ONEJOB_REQUIRE_NODE"), command+" is not installed")
			t.Skip(command + " is not installed, and this test needs a package of npm")
		}
	}
	dir, err := packages()
	require.NoError(t, err)
	return filepath.Join(dir, name)
}

// packages is the folder of scripts whose packages are installed: all of them, which
// npm notes when it is done.
var packages = sync.OnceValues(func() (string, error) {
	if _, err := os.Stat(filepath.Join(scripts, "node_modules", ".package-lock.json")); err == nil {
		return scripts, nil
	}
	dir, err := folder()
	if err != nil {
		return "", err
	}
	sources, err := filepath.Glob(filepath.Join(scripts, "*.mjs"))
	if err != nil {
		return "", fmt.Errorf("listing the scripts: %w", err)
	}
	names := []string{"package.json", "package-lock.json"}
	for _, source := range sources {
		names = append(names, filepath.Base(source))
	}
	if err := copyFiles(scripts, dir, names...); err != nil {
		return "", err
	}
	npm := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("installing packages of npm: %w\n%s", err, out)
	}
	return dir, nil
})
