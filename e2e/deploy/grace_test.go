package deploy_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"onejob/config"
)

func itoa(n int) string { return strconv.Itoa(n) }

// example is deploy/onejob.yaml, which compose and the units go with.
func example(t *testing.T) *config.Config {
	t.Helper()
	cfg, err := config.Load("../../deploy/onejob.yaml")
	require.NoError(t, err)
	return cfg
}

// TestCompose: its worker is given longer than drain.
func TestCompose(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../compose.yaml")
	require.NoError(t, err)
	var compose struct {
		Services map[string]struct {
			Grace string `json:"stop_grace_period"`
		} `json:"services"`
	}
	require.NoError(t, yaml.Unmarshal(text, &compose))
	grace, err := time.ParseDuration(compose.Services["worker"].Grace)
	require.NoError(t, err)
	require.GreaterOrEqual(t, grace, example(t).Drain+workerEnds)
}

const unitDir = "../../deploy/systemd/"

var stopTime = regexp.MustCompile(`(?m)^TimeoutStopSec=(\d+)$`)

// TestUnits_Grace: units are given longer than drain, and are started again however
// long Redis is away.
func TestUnits_Grace(t *testing.T) {
	t.Parallel()
	for unit, least := range map[string]time.Duration{"api": apiEnds, "worker": example(t).Drain + workerEnds} {
		text, err := os.ReadFile(unitDir + "onejob-" + unit + "@.service")
		require.NoError(t, err)
		found := stopTime.FindSubmatch(text)
		require.Len(t, found, 2, unit)
		seconds, err := strconv.Atoi(string(found[1]))
		require.NoError(t, err)
		require.GreaterOrEqual(t, time.Duration(seconds)*time.Second, least, unit)
		require.Contains(t, string(text), "\nRestart=always\n")
		require.Contains(t, string(text), "\nStartLimitIntervalSec=0\n")
		require.Contains(t, string(text), "/onejob "+unit+" --config /etc/onejob/onejob.yaml --addr 127.0.0.1:%i\n")
	}
}

// TestUnits_Verify: systemd itself finds nothing wrong with them.
func TestUnits_Verify(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	files, err := filepath.Glob(unitDir + "*.service")
	require.NoError(t, err)
	require.Len(t, files, 2)
	dir := t.TempDir()
	arguments := []string{"verify"}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		// It looks whether the program is there.
		text = bytes.ReplaceAll(text, []byte("/usr/local/bin/onejob"), []byte("/bin/true"))
		name := filepath.Join(dir, strings.Replace(filepath.Base(file), "@", "@8081", 1))
		require.NoError(t, os.WriteFile(name, text, 0o600))
		arguments = append(arguments, name)
	}
	said, err := exec.Command(analyze, arguments...).CombinedOutput()
	require.NoError(t, err, string(said))
	require.Empty(t, strings.TrimSpace(string(said)))
}
