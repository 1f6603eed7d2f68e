package api_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/api"
)

// page is mounted beside the API.
type page struct{}

func (page) Serve(w http.ResponseWriter, r *http.Request) error {
	switch r.URL.Path {
	case "/page/refused":
		w.Header().Set("WWW-Authenticate", "Basic")
		return refusal("unauthorized")
	case "/page/away":
		return refusal("store-unavailable")
	case "/page/other":
		return refusal("no such problem")
	case "/page/half":
		_, _ = io.WriteString(w, "half of ")
		_ = http.NewResponseController(w).Flush()
		panic("here")
	case "/page/panic":
		panic("a private matter")
	case "/page/broken":
		return errors.New("a private detail")
	}
	w.Header().Set("Content-Security-Policy", "mine")
	_, err := io.WriteString(w, r.Method+" "+r.URL.Path)
	return err
}

// refusal is an error that names its problem.
type refusal string

func (refusal) Error() string         { return "Not here." }
func (r refusal) ProblemName() string { return string(r) }

func TestMount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.api.Mount("/page", page{})
	for _, path := range []string{"/page", "/page/", "/page/a/b"} {
		answer := b.post("", path, "{}").is(http.StatusOK)
		require.Equal(t, "POST "+path, string(answer.body))
		require.Equal(t, "mine", answer.header.Get("Content-Security-Policy"))
	}
	answer := b.get("", "/page/refused")
	require.Equal(t, "Not here.", answer.problem(http.StatusUnauthorized, "unauthorized").Detail)
	require.Equal(t, "Basic", answer.header.Get("WWW-Authenticate"))
	answer = b.get("", "/page/away")
	answer.problem(http.StatusServiceUnavailable, "store-unavailable")
	require.Equal(t, "2", answer.header.Get("Retry-After"))
	b.get("", "/page/other").problem(http.StatusInternalServerError, "internal")
	answer = b.get("", "/page/broken")
	answer.problem(http.StatusInternalServerError, "internal")
	require.NotContains(t, string(answer.body), "private")
}

// An answer that has begun and cannot be finished is cut off: half of it must
// not pass for the whole.
func TestPanicInTheMiddleOfAnAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.api.Mount("/page", page{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+"/page/half", nil)
	require.NoError(t, err)
	response, err := b.client.Do(r)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	_, err = io.ReadAll(response.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// shaped answers problems in a shape of its own.
type shaped struct{ page }

func (shaped) AnswerProblem(w http.ResponseWriter, p *api.Problem) error {
	w.Header().Set("X-Test-Problem", p.Name())
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, err := io.WriteString(w, `"`+p.Detail+`"`)
	return err
}

// Every problem below the prefix is the mounted page's to answer, whoever met it.
func TestMountedProblems(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.api.Mount("/page", shaped{})
	for path, name := range map[string]string{
		"/page/refused": "unauthorized", "/page/away": "store-unavailable", "/page/broken": "internal", "/page/panic": "internal",
	} {
		answer := b.get("", path)
		require.Equal(t, name, answer.header.Get("X-Test-Problem"))
		require.Equal(t, "no-store", answer.header.Get("Cache-Control"))
		require.NotContains(t, string(answer.body), "private")
	}
	require.Equal(t, "2", b.get("", "/page/away").header.Get("Retry-After"))
	require.Equal(t, "method-not-allowed", b.send("", "PURGE", "/page/x", "").header.Get("X-Test-Problem"))
	b.get("", "/pages").problem(http.StatusNotFound, "not-found")
}

func TestMountFront(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.api.MountFront(page{})
	w := httptest.NewRecorder()
	b.api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, "GET /", w.Body.String())
	b.get("", "/elsewhere").problem(http.StatusNotFound, "not-found")
	b.post("", "/", "{}").problem(http.StatusMethodNotAllowed, "method-not-allowed")
}
