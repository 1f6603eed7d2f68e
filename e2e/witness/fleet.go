package witness

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
	"onejob/redistest"
)

// Fleet is onejob's own processes: the real binary, as APIs and workers.
type Fleet struct {
	APIs    []string // addresses
	workers []string
	config  string
	t       testing.TB
	http    http.Client
	told    map[string]int // by address: rewinds it had told of when it was asked last
}

// configuration is that of all of them. Everything that can be settled settles by
// itself: the press can be asked, and knows all that it was given.
const configuration = `
redis: %s
retention: {job: 2h, key: 3h}
drain: 3s
lease: 3s
beat: 1s
providers:
  press: {type: http, url: "%[2]s/create", timeout: 1s, deadline: 4s, concurrency: 20,
          lookup_url: "%[2]s/status/{attempt}", absent_proves: true}
routes:
  print: {providers: [press], tries: 3, max_attempts: 3, backoff: {initial: 50ms, max: 500ms}}
`

// Start starts the APIs and workers over a Redis, which is given as the configuration
// has it, and waits until they are ready.
func Start(t testing.TB, redis string, press *Press, apis, workers int) *Fleet {
	t.Helper()
	f := &Fleet{t: t, config: filepath.Join(t.TempDir(), "onejob.yaml"), told: map[string]int{}}
	t.Cleanup(f.http.CloseIdleConnections)
	require.NoError(t, os.WriteFile(f.config, fmt.Appendf(nil, configuration, redis, press.URL), 0o600))
	for range apis {
		f.APIs = append(f.APIs, f.run("api"))
	}
	for range workers {
		f.workers = append(f.workers, f.run("worker"))
	}
	f.Ready(t.Context())
	return f
}

func (f *Fleet) run(command string) string {
	f.t.Helper()
	port, err := redistest.FreePort()
	require.NoError(f.t, err)
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	Run(f.t, exec.Command(program.Onejob(f.t), command, "--config", f.config, "--addr", addr), "ONEJOB_DEV_KEYS=1")
	return addr
}

func (f *Fleet) all() []string { return append(append([]string(nil), f.APIs...), f.workers...) }

// Ready waits until every process says that it can work.
func (f *Fleet) Ready(ctx context.Context) {
	f.t.Helper()
	for _, addr := range f.all() {
		Within(ctx, f.t, 30*time.Second, addr+" is ready", func() bool {
			status, _ := f.get(ctx, addr, "/readyz")
			return status == http.StatusOK
		})
	}
}

func (f *Fleet) get(ctx context.Context, addr, path string) (int, string) {
	ctx, cancel := context.WithTimeout(ctx, 6*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return 0, err.Error()
	}
	resp, err := f.http.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(raw)
}

var (
	rewound = regexp.MustCompile(`store_rewound: partition (\d+) went back in time`)
	counted = regexp.MustCompile(`(?m)^onejob_store_rewound_total (\d+)$`)
)

// Rewound gives the partitions that some process has raised store_rewound for since it
// was asked last. What /readyz says must be what the metric counts.
func (f *Fleet) Rewound(ctx context.Context) map[int]bool {
	f.t.Helper()
	partitions := map[int]bool{}
	for _, addr := range f.all() {
		status, body := f.get(ctx, addr, "/readyz")
		require.Equal(f.t, http.StatusOK, status, body)
		notes := rewound.FindAllStringSubmatch(body, -1)
		for _, note := range notes[min(f.told[addr], len(notes)):] {
			p, err := strconv.Atoi(note[1])
			require.NoError(f.t, err)
			partitions[p] = true
		}
		_, metrics := f.get(ctx, addr, "/metrics")
		count := counted.FindStringSubmatch(metrics)
		require.Len(f.t, count, 2, "no metric counts rewinds: %s", metrics)
		require.Equal(f.t, strconv.Itoa(len(notes)), count[1], "%s: the metric and /readyz differ", addr)
		f.told[addr] = len(notes)
	}
	return partitions
}

// Fsck wants `onejob fsck` to find nothing (I11).
func (f *Fleet) Fsck(ctx context.Context) {
	f.t.Helper()
	out, err := exec.CommandContext(ctx, program.Onejob(f.t), "fsck", "--config", f.config).CombinedOutput()
	require.NoError(f.t, err, "I11: %s", out)
	require.Contains(f.t, string(out), " 0 findings", "I11")
}

// Within waits until ok, looking often; it fails when that takes longer than limit.
func Within(ctx context.Context, t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			require.FailNow(t, "waited too long", "%s: not so in %v", what, limit)
		}
	}
}

// crockford are the digits of a partition at the end of a job's id (design §3).
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// PartitionOf reads the partition out of a job's id.
func PartitionOf(id string) int {
	end := id[len(id)-2:]
	return strings.IndexByte(crockford, end[0])*len(crockford) + strings.IndexByte(crockford, end[1])
}
