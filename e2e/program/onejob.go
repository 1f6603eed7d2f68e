package program

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	plain  = sync.OnceValues(func() (string, error) { return build("onejob", "") })
	next   = sync.OnceValues(func() (string, error) { return build("onejob-next", "schema2") })
	faulty = sync.OnceValues(func() (string, error) { return build("onejob-faults", "faults") })
)

// Onejob is the path of the real binary.
func Onejob(t testing.TB) string { return found(t, plain) }

// Faulty is that of one with the points in it at which it can be made to die.
func Faulty(t testing.TB) string { return found(t, faulty) }

// Next is that of the release after this one, whose records have another schema
// (lua/schema_2.go).
func Next(t testing.TB) string { return found(t, next) }

func found(t testing.TB, build func() (string, error)) string {
	t.Helper()
	path, err := build()
	require.NoError(t, err)
	return path
}

func build(name, tags string) (string, error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	out, err := exec.Command("go", "build", "-tags", tags, "-o", path, "onejob/cmd/onejob").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	return path, nil
}
