package config

import (
	"cmp"
	"fmt"
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
}
