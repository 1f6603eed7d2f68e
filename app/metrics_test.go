package app

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"onejob/config"
)

var update = flag.Bool("update", false, "write the golden files anew")

// started is a process of tests, closed at their end.
func started(t *testing.T, cfg *config.Config, opts ...Option) *App {
	t.Helper()
	a := New(cfg, opts...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(func() {
		cancel()
		require.NoError(t, a.Close())
	})
	require.NoError(t, a.Start(ctx))
	return a
}

// series is one metric as its registry describes it.
type series struct {
	name, help string
	labels     []string
}

var description = regexp.MustCompile(`^Desc\{fqName: "([^"]+)", help: "(.*?)"(?:, unit: "[^"]*")?, constLabels: \{\}, variableLabels: \{([^}]*)\}\}$`)

// described are the metrics of a process that does everything.
func described(t *testing.T) map[string]series {
	t.Helper()
	a := started(t, parse(t, oneProvider), WithAPI(), WithWorker(), WithEmbeddedRedis(), WithDevKeys())
	all, found := make(chan *prometheus.Desc, 1000), map[string]series{}
	a.metrics.registry.Describe(all)
	close(all)
	for desc := range all {
		m := description.FindStringSubmatch(desc.String())
		if len(m) != 4 || !strings.HasPrefix(m[1], "onejob_") {
			continue
		}
		s := series{name: m[1], help: strings.ReplaceAll(m[2], `\"`, `"`)}
		if m[3] != "" {
			s.labels = strings.Split(m[3], ",")
		}
		found[s.name] = s
	}
	return found
}

// docs/metrics.md has every metric there is, with the question it answers, and no
// other. Run with -update after a change.
func TestMetrics_AreDocumented(t *testing.T) {
	t.Parallel()
	const (
		page  = "../docs/metrics.md"
		begin = "<!-- the table is made from the program: go test ./app -run Documented -update -->\n"
		end   = "<!-- end of the table -->\n"
	)
	known := described(t)
	require.GreaterOrEqual(t, len(known), 20)
	var table strings.Builder
	table.WriteString("| metric | the question it answers |\n| --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(known)) {
		s := known[name]
		require.Regexp(t, `^[A-Z][^?]*\?`, s.help, "%s answers no question", name)
		labels := ""
		if len(s.labels) > 0 {
			labels = "{" + strings.Join(s.labels, ",") + "}"
		}
		fmt.Fprintf(&table, "| `%s%s` | %s |\n", s.name, labels, s.help)
	}
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok, "%s has no table", page)
	written, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "the table of %s has no end", page)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+table.String()+end+after), 0o600))
		return
	}
	require.Equal(t, table.String(), written, "go test ./app -run Documented -update")
}

// No label may name an owner, a job, a key or anything else callers choose.
func TestMetrics_LabelsAreBounded(t *testing.T) {
	t.Parallel()
	allowed := []string{
		"answer", "class", "command", "error", "event", "kind", "method", "outcome", "provider", "queue", "reason", "route",
		"said", "state", "status", "version",
	}
	for name, s := range described(t) {
		for _, label := range s.labels {
			require.Contains(t, allowed, label, name)
		}
	}
}

func TestVocabulary(t *testing.T) {
	t.Parallel()
	var v vocabulary
	require.Equal(t, "busy", v.word("busy"))
	require.Empty(t, v.word(""))
	require.Equal(t, "other", v.word("Insufficient funds: 12 €"))
	for i := range 2 * mostWords {
		v.word(fmt.Sprintf("reason_%d", i))
	}
	require.Equal(t, "other", v.word("one_too_many"))
	require.Equal(t, "busy", v.word("busy"))
}

// page reads a page of a process.
func page(t *testing.T, addr, path, key string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, nil)
	require.NoError(t, err)
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

// requireLine is Contains that does not print the whole page.
func requireLine(t *testing.T, page, line string) {
	t.Helper()
	if !strings.Contains(page, line) {
		require.FailNow(t, "the page does not say", line)
	}
}

// A job's way is counted: its submission, its wait, its claim, its call, what the
// store did for it and what is in there now.
func TestMetrics_OfOneJob(t *testing.T) {
	t.Parallel()
	a := started(t, parse(t, oneProvider), WithAPI(), WithWorker(), WithEmbeddedRedis(), WithDevKeys(), WithVersion("v1.2.3"))
	post(t.Context(), t, a.Addr(), `{"route":"print","input":{}}`)
	require.Eventually(t, func() bool {
		_, text := page(t, a.Addr(), "/metrics", "")
		return strings.Contains(text, `onejob_provider_call_seconds_count{outcome="succeeded",provider="inkjet"} 1`)
	}, 10*time.Second, 10*time.Millisecond)
	_, text := page(t, a.Addr(), "/metrics", "")
	for _, want := range []string{
		`onejob_submissions_total{outcome="created",route="print"} 1`,
		`onejob_claims_total{answer="claimed",provider="inkjet"} 1`,
		`onejob_queue_delay_seconds_count{provider="inkjet"} 1`,
		`onejob_attempts_total{provider="inkjet",reason="",state="running"} 1`,
		`onejob_attempts_total{provider="inkjet",reason="",state="succeeded"} 1`,
		`onejob_provider_calls_in_flight{provider="inkjet"} 0`,
		`onejob_provider_concurrency{provider="inkjet"} 10`,
		`onejob_store_durability{class="memory"} 1`,
		`onejob_store_census 1`,
		`onejob_unknown_needing_person 0`,
		`onejob_queue_paused{queue="inkjet"} 0`,
		`onejob_build_info{kind="dev",version="v1.2.3"} 1`,
	} {
		requireLine(t, text, want+"\n")
	}
	require.NotContains(t, text, "onejob_store_errors_total{", "nothing went wrong")
	// Once as a function, which this Redis does not have; once by its digest, which it did
	// not know yet, and once as a whole; the next time by its digest alone.
	requireLine(t, text, `onejob_store_commands_total{command="submit"} 3`+"\n")
	post(t.Context(), t, a.Addr(), `{"route":"print","input":{}}`)
	_, again := page(t, a.Addr(), "/metrics", "")
	requireLine(t, again, `onejob_store_commands_total{command="submit"} 4`+"\n")
	require.Regexp(t, `onejob_store_round_trip_seconds_count\{kind="verb"\} [1-9]`, text)
	require.Regexp(t, `onejob_sweeps_total\{outcome="whole"\} [1-9]`, text)
}
