package app

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// Files for those who watch over onejob.
const (
	dashboardFile = "../deploy/grafana/onejob.json"
	alertsFile    = "../deploy/prometheus/alerts.yml"
)

// expressions are the questions a file asks of Prometheus, by where they stand.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, RefID string }
		}
		Templating struct {
			List []struct {
				Name  string
				Query any
			}
		}
	}
	text, err := os.ReadFile(dashboardFile)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &dashboard))
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			found["panel "+panel.Title+" "+target.RefID] = target.Expr
		}
	}
	require.Greater(t, len(found), 30)
	for _, rule := range alerts(t) {
		found["alert "+rule.Alert] = rule.Expr
	}
	return found
}

type alert struct {
	Alert       string
	Expr        string
	Labels      map[string]string
	Annotations map[string]string
}

func alerts(t *testing.T) []alert {
	t.Helper()
	var file struct{ Groups []struct{ Rules []alert } }
	text, err := os.ReadFile(alertsFile)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &file))
	require.Len(t, file.Groups, 1)
	return file.Groups[0].Rules
}

var (
	seriesNames = regexp.MustCompile(`onejob_[a-z0-9_]+`)
	// matchers are what stands in the braces after a name; groups what a by names.
	matchers  = regexp.MustCompile(`(onejob_[a-z0-9_]+)\{([^}]*)\}`)
	matched   = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)`)
	groupings = regexp.MustCompile(`by \(([^)]*)\)`)
)

// Every series that the dashboard and the alerts ask for is there, with the labels
// they ask it by.
func TestDashboardAndAlerts_AskForWhatIsThere(t *testing.T) {
	t.Parallel()
	known := described(t)
	base := func(name string) string {
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			if cut, ok := strings.CutSuffix(name, suffix); ok && known[cut].name != "" {
				return cut
			}
		}
		return name
	}
	scraped := map[string]bool{"job": true, "instance": true, "le": true} // Prometheus's own
	for where, expr := range expressions(t) {
		names := seriesNames.FindAllString(expr, -1)
		require.NotEmpty(t, names, where)
		labels := map[string]bool{}
		for _, name := range names {
			series := known[base(name)]
			require.NotEmpty(t, series.name, "%s asks for %s, which no process has", where, name)
			for _, label := range series.labels {
				labels[label] = true
			}
		}
		for _, m := range matchers.FindAllStringSubmatch(expr, -1) {
			for _, label := range matched.FindAllStringSubmatch(m[2], -1) {
				require.True(t, scraped[label[1]] || slices.Contains(known[base(m[1])].labels, label[1]),
					"%s asks for %s by %s, a label it has not", where, m[1], label[1])
			}
		}
		for _, by := range groupings.FindAllStringSubmatch(expr, -1) {
			for label := range strings.SplitSeq(by[1], ",") {
				label = strings.TrimSpace(label)
				require.True(t, scraped[label] || labels[label], "%s groups by %s, a label nothing in it has", where, label)
			}
		}
	}
}

// Every alert says how urgent it is, what is the matter, and where to read on; the
// place is there.
func TestAlerts_SayWhatToDo(t *testing.T) {
	t.Parallel()
	for _, rule := range alerts(t) {
		require.Contains(t, []string{"page", "ticket"}, rule.Labels["severity"], rule.Alert)
		require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
		require.NotEmpty(t, rule.Annotations["description"], rule.Alert)
		page, heading, _ := strings.Cut(rule.Annotations["runbook"], "#")
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(page)))
		require.NoError(t, err, rule.Alert)
		require.Contains(t, anchors(string(text)), heading, "%s: %s has no such heading", rule.Alert, page)
	}
}

// anchors are the headings of a page as links name them.
func anchors(text string) []string {
	var all []string
	drop := regexp.MustCompile(`[^a-z0-9 _-]`)
	for line := range strings.Lines(text) {
		if heading := strings.TrimLeft(line, "#"); heading != line {
			all = append(all, strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), ""), " ", "-"))
		}
	}
	return all
}

// promtool takes the alerts, and fires each where it should and nowhere else; it can
// read every question of the dashboard, too.
func TestAlerts_ByPromtool(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "rules", alertsFile)
	promtool(t, "test", "rules", "../deploy/prometheus/alerts_test.yml")

	var rules strings.Builder
	rules.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	n := 0
	for _, expr := range expressions(t) {
		expr = strings.NewReplacer("$__rate_interval", "5m").Replace(expr)
		fmt.Fprintf(&rules, "      - {record: 'panel:%d', expr: %q}\n", n, expr)
		n++
	}
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	require.NoError(t, os.WriteFile(file, []byte(rules.String()), 0o600))
	promtool(t, "check", "rules", file)
}

// promtool runs it, or skips the test where it is not installed; with
// ONEJOB_REQUIRE_PROMTOOL, as `make test` has it, the test fails instead.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		const missing = "promtool is not installed (Debian: apt-get install prometheus)"
		if os.Getenv("ONEJOB_REQUIRE_PROMTOOL") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	require.NoError(t, err, "promtool %s\n%s", strings.Join(args, " "), out)
}
