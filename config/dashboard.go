package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Dashboard is about the operators' pages (docs/dashboard.md).
type Dashboard struct {
	// Session is how long somebody stays signed in at most. Key dashboard.session, a
	// duration, 168h (7 days) at most. Defaults to 8h.
	Session time.Duration

	// Idle is how long somebody stays signed in without doing anything. Key
	// dashboard.idle, a duration, dashboard.session at most. Defaults to 1h, or to
	// dashboard.session where that is less.
	Idle time.Duration

	// Redact is what of inputs, results and evidence the pages do not show: paths
	// of names separated by dots, such as input.card.number. * stands for one or
	// more names, so that *.password is that name at any depth; elements of arrays
	// need not be named; case does not matter. Key dashboard.redact, a list. Defaults
	// to none: everything is shown.
	Redact []string
}

const (
	defaultDashboardSession = 8 * time.Hour
	defaultDashboardIdle    = time.Hour
	maxDashboardSession     = 7 * 24 * time.Hour
)

func (d *Dashboard) setDefaults() {
	d.Session = cmp.Or(d.Session, defaultDashboardSession)
	d.Idle = cmp.Or(d.Idle, min(defaultDashboardIdle, d.Session))
}

func (r reader) dashboard(to *Dashboard) field {
	return func(path string, n *yaml.Node) {
		r.mapping(path, n, map[string]field{
			"session": r.duration(&to.Session),
			"idle":    r.duration(&to.Idle),
			"redact":  r.texts(&to.Redact),
		})
	}
}

func (c checker) dashboard(d Dashboard) {
	c.duration("dashboard.session", d.Session)
	c.duration("dashboard.idle", d.Idle)
	if d.Session > maxDashboardSession {
		c.add("dashboard.session", short(d.Session)+" is too long", "want "+short(maxDashboardSession)+" at most: whoever finds a browser open is an operator")
	}
	if d.Idle > d.Session {
		c.add("dashboard.idle", fmt.Sprintf("%s is more than dashboard.session (%s)", short(d.Idle), short(d.Session)),
			"nobody is idle for longer than he is signed in", "dashboard.session")
	}
	for i, path := range d.Redact {
		c.redact(element("dashboard.redact", i), path)
	}
}

// redactRoots are the parts of a job a path to redact can begin with.
var redactRoots = []string{"input", "params", "metadata", "result", "evidence", "error", "usage", "*"}

func (c checker) redact(at, path string) {
	names := strings.Split(path, ".")
	switch {
	case slices.Contains(names, ""):
		c.add(at, clip(path)+" is not a path", "want names separated by single dots, such as input.card.number or *.password")
	case !slices.Contains(redactRoots, names[0]):
		c.add(at, clip(path)+" begins with "+clip(names[0]), oneOf(names[0], redactRoots))
	}
}
