package balancer

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// balancer is one of the two programs with its configuration.
type balancer struct {
	name    string
	program string
	require string // the variable that forbids to skip its tests
	debian  string // the package that has it
	file    string
	wait    string // the line that says how long it waits for an answer
	brief   string // the same, with a wait of a second
	// adapt replaces what cannot be as in the file when it runs in a test.
	adapt func(dir, config string) string
	args  func(dir, file string) []string
}

var haproxy = balancer{
	name: "haproxy", program: "haproxy", require: "ONEJOB_REQUIRE_HAPROXY", debian: "haproxy",
	file: "haproxy.cfg", wait: "timeout server 75s", brief: "timeout server 1s",
	adapt: func(_, config string) string { return config },
	args:  func(_, file string) []string { return []string{"-db", "-f", file} },
}

var nginx = balancer{
	name: "nginx", program: "nginx", require: "ONEJOB_REQUIRE_NGINX", debian: "nginx-light",
	file: "nginx.conf", wait: "proxy_read_timeout 75s;", brief: "proxy_read_timeout 1s;",
	adapt: func(dir, config string) string {
		// Where it keeps its files by default only root may write.
		paths := fmt.Sprintf("http {\n    client_body_temp_path %[1]s/body;\n    proxy_temp_path %[1]s/proxy;\n"+
			"    fastcgi_temp_path %[1]s/fastcgi;\n    uwsgi_temp_path %[1]s/uwsgi;\n    scgi_temp_path %[1]s/scgi;\n", dir)
		return "pid " + dir + "/nginx.pid;\ndaemon off;\nmaster_process off;\n" + strings.Replace(config, "http {\n", paths, 1)
	},
	args: func(dir, file string) []string { return []string{"-p", dir, "-e", "stderr", "-c", file} },
}

// each runs a test with both balancers.
func each(t *testing.T, test func(t *testing.T, b balancer)) {
	t.Helper()
	for _, b := range []balancer{haproxy, nginx} {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			b.needed(t)
			test(t, b)
		})
	}
}

// needed skips the test where the program is not installed, or fails it where it
// has to be.
func (b balancer) needed(t *testing.T) string {
	t.Helper()
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin") {
		if path, err := exec.LookPath(filepath.Join(dir, b.program)); err == nil {
			return path
		}
	}
	missing := fmt.Sprintf("%s is not installed (Debian: apt-get install %s)", b.program, b.debian)
	if os.Getenv(b.require) != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// change is a place in a configuration and what stands there in a test.
type change struct{ from, to string }

// start runs the balancer in front of two backends and returns its URL.
func (b balancer) start(t *testing.T, api1, api2 string, changes ...change) string {
	t.Helper()
	url, _ := b.run(t, api1, api2, changes...)
	return url
}

// run is start that also gives the process.
func (b balancer) run(t *testing.T, api1, api2 string, changes ...change) (string, *process) {
	t.Helper()
	program := b.needed(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", b.file))
	require.NoError(t, err)
	addr := freeAddr(t)
	config := string(text)
	for _, c := range append(changes, change{"127.0.0.1:8080", addr}, change{"127.0.0.1:8081", api1}, change{"127.0.0.1:8082", api2}) {
		require.Contains(t, config, c.from, "what the test replaces is not in %s", b.file)
		config = strings.ReplaceAll(config, c.from, c.to)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, b.file)
	require.NoError(t, os.WriteFile(file, []byte(b.adapt(dir, config)), 0o600))
	p := start(t, b.name, nil, program, b.args(dir, file)...)
	url := "http://" + addr
	answers(t, url+"/readyz", http.StatusOK)
	return url, p
}
