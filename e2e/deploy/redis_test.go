package deploy_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"onejob/app"
	"onejob/config"
	"onejob/redistest"
)

// directives are the lines of a redis.conf that say something.
func directives(text string) []string {
	var said []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			said = append(said, line)
		}
	}
	return said
}

// TestKubernetes_Redis: the example says what deploy/redis.conf says, and has room for
// what it may hold twice.
func TestKubernetes_Redis(t *testing.T) {
	t.Parallel()
	all := read(t)
	plain, err := os.ReadFile("../../deploy/redis.conf")
	require.NoError(t, err)
	said := directives(get[*core.ConfigMap](t, all, "ConfigMap onejob-redis").Data["redis.conf"])
	var limit resource.Quantity
	rest := said[:0:0]
	for _, directive := range said {
		if most, ok := strings.CutPrefix(directive, "maxmemory "); ok {
			limit = resource.MustParse(strings.Replace(most, "gb", "Gi", 1))
			continue
		}
		rest = append(rest, directive)
	}
	require.Equal(t, directives(string(plain)), rest)
	container := get[*apps.StatefulSet](t, all, "StatefulSet onejob-redis").Spec.Template.Spec.Containers[0]
	require.GreaterOrEqual(t, container.Resources.Limits.Memory().Value(), 2*limit.Value())
}

// TestRedisConf: a redis-server that reads deploy/redis.conf keeps the promises; doctor
// finds nothing to say.
func TestRedisConf(t *testing.T) {
	t.Parallel()
	redistest.Require(t)
	path, err := exec.LookPath("redis-server")
	require.NoError(t, err)
	port, err := redistest.FreePort()
	require.NoError(t, err)
	cmd := exec.Command(path, "../../deploy/redis.conf", "--port", itoa(port), "--bind", "127.0.0.1", "--dir", t.TempDir())
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	addr := "127.0.0.1:" + itoa(port)
	require.NoError(t, redistest.Ready(addr))
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = rdb.Close() }()
	for _, finding := range app.Examine(t.Context(), config.Redis{URL: "redis://" + addr + "/0", Durability: config.DurabilityFsync}) {
		require.NotEqual(t, app.Bad, finding.Verdict, "%s: %s", finding.What, finding.Found)
	}
	cfg, err := rdb.ConfigGet(t.Context(), "append*").Result()
	require.NoError(t, err)
	require.Equal(t, "always", cfg["appendfsync"])
}
