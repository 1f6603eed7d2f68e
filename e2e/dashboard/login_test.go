package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
	"onejob/redistest"
)

// TestLogin_TurnsOwnersAway, and tells them whose pages these are.
func TestLogin_TurnsOwnersAway(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	p := open(t, s.base, desk)
	p.visit("/dashboard")
	p.run(write("#key", "dev-key"), click("#login"), see("#login-error"))
	require.Regexp(t, "(?i)operator", p.text("#login-error"))
	require.NotContains(t, p.at(), "dev-key")
}

// TestViewer_LooksOnly: all is shown, with nothing to press, and what he sends by
// hand is refused.
func TestViewer_LooksOnly(t *testing.T) {
	t.Parallel()
	needsBrowser(t)
	options := redistest.Real(t).Options()
	url := fmt.Sprintf("redis://%s/%d", options.Addr, options.DB)
	made, err := exec.Command(program.Onejob(t), "keys", "create", "--redis", url, "--owner", "looker", "--role", "viewer", "--json").Output()
	require.NoError(t, err)
	var viewer struct {
		Key string `json:"key"`
	}
	require.NoError(t, json.Unmarshal(made, &viewer), string(made))

	s := startServer(t, "--redis", url)
	id := s.submit("click", "print", hangs)
	s.await(id, "unknown")
	p := open(t, s.base, desk)
	p.signIn(viewer.Key)
	for _, path := range []string{"/dashboard/unknown", "/dashboard/jobs", "/dashboard/jobs/" + id, "/dashboard/providers", "/dashboard/audit"} {
		p.visit(path)
		require.Zero(t, eval[int](p, `document.querySelectorAll("main form[method=post] button, main [data-action]").length`), path)
	}
	p.visit("/dashboard/unknown")
	require.Contains(t, p.text("#unknown-"+id), "click")
	p.picture("viewer")
	status := eval[int](p, `(() => {
		const request = new XMLHttpRequest()
		request.open("POST", "/dashboard/jobs/`+id+`/decide", false)
		request.setRequestHeader("Content-Type", "application/x-www-form-urlencoded")
		request.setRequestHeader("X-CSRF-Token", JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRF-Token"])
		request.send("action=fail&attempt=1&version=1&step=confirm&reason=mine")
		return request.status
	})()`)
	require.Equal(t, http.StatusForbidden, status)
	require.Equal(t, "unknown", s.get(id).State)
}
