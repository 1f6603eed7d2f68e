package dashboard

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lives are jobs in every state, for the pages to show.
func (s *server) lives() (unknown, failed string) {
	unknown = s.submit("unknown", "print", hangs)
	failed = s.submit("failed", "print", rejects)
	s.submit("long-key-"+strings.Repeat("x", 200), "plot", works)
	s.submit("open", "plot", `{"simulate":{"laser":{"outcome":"hang"}}}`)
	s.await(unknown, "unknown")
	s.await(failed, "failed")
	return unknown, failed
}

// TestEveryPage_OnEveryScreen: light and dark, on a desk and on a phone, no page
// breaks a rule of accessibility, complains, or is wider than the screen.
func TestEveryPage_OnEveryScreen(t *testing.T) {
	t.Parallel()
	source := axe(t)
	s := startServer(t)
	unknown, failed := s.lives()
	pages := []string{
		"/dashboard/unknown", "/dashboard/jobs", "/dashboard/jobs?state=failed", "/dashboard/jobs/" + unknown, "/dashboard/jobs/" + failed,
		"/dashboard/providers", "/dashboard/store", "/dashboard/audit", "/dashboard/jobs/job_nothing",
	}
	for _, look := range []screen{desk, deskDark, phone, phoneDark} {
		t.Run(look.name, func(t *testing.T) {
			t.Parallel()
			p := open(t, s.base, look)
			p.visit("/dashboard")
			p.accessible(source, "login on "+look.name)
			p.picture("login-" + look.name)
			p.signIn("dev-operator-key")
			for _, path := range pages {
				p.visit(path)
				p.accessible(source, path+" on "+look.name)
				wide := eval[int](p, `document.documentElement.scrollWidth - window.innerWidth`)
				require.LessOrEqual(t, wide, 0, "%s is %d pixels too wide on %s", path, wide, look.name)
				name := strings.NewReplacer(unknown, "unknown", failed, "failed", "/dashboard/", "", "?", "-", "=", "-").Replace(path)
				p.picture(look.name + "-" + name)
			}
			p.run(click(`#account summary`))
			dark := eval[int](p, `getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).map(Number).reduce((a, b) => a + b)`) < 3*128
			require.Equal(t, look.dark, dark, "the background follows the scheme")
		})
	}
}
