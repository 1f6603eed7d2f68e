package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDashboard(t *testing.T) {
	t.Parallel()
	const rest = "\nproviders: {inkjet: {type: simulated}}\nroutes: {print: {providers: [inkjet]}}\n"
	for text, c := range map[string]struct {
		want    Dashboard
		problem string // contained
	}{
		"":                                    {want: Dashboard{Session: 8 * time.Hour, Idle: time.Hour}},
		`dashboard: {session: 30m}`:           {want: Dashboard{Session: 30 * time.Minute, Idle: 30 * time.Minute}},
		`dashboard: {session: 12h, idle: 2h}`: {want: Dashboard{Session: 12 * time.Hour, Idle: 2 * time.Hour}},
		`dashboard: {session: 168h}`:          {want: Dashboard{Session: 168 * time.Hour, Idle: time.Hour}},
		`dashboard: {session: 169h}`:          {problem: "dashboard.session: 169h is too long; want 168h at most"},
		`dashboard: {session: 1h, idle: 61m}`: {problem: "dashboard.idle: 1h1m is more than dashboard.session (1h)"},
		`dashboard: {redact: [input.card.number, "*.password", error]}`: {want: Dashboard{
			Session: 8 * time.Hour, Idle: time.Hour, Redact: []string{"input.card.number", "*.password", "error"},
		}},
		`dashboard: {redact: input}`:            {problem: "dashboard.redact: is text; want a list"},
		`dashboard: {redact: [input..card]}`:    {problem: "dashboard.redact[0]: \"input..card\" is not a path"},
		`dashboard: {redact: [a, inputs.b]}`:    {problem: "dashboard.redact[1]: \"inputs.b\" begins with \"inputs\""},
		`dashboard: {redact: [""]}`:             {problem: "dashboard.redact[0]"},
		`dashboard: {sesion: 1h}`:               {problem: "did you mean session?"},
		`dashboard: {session: always}`:          {problem: `"always" is not a duration`},
		`dashboard: {session: 8h, idle: never}`: {problem: `"never" is not a duration`},
	} {
		got, err := Parse("f.yaml", []byte(text+rest), environment(nil))
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, c.want, got.Dashboard, text)
	}
	c := Default()
	c.Dashboard.Idle = 9 * time.Hour
	require.ErrorContains(t, c.Validate(), "dashboard.idle", "also from code")
}
