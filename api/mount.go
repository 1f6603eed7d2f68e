package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// Mounted is served beside the API under its own rules: it does its own
// authentication and sets its own headers. What it refuses it returns as an
// error, unanswered, which is then answered as a problem; an error that is a
// ProblemNamer says which.
type Mounted interface {
	Serve(w http.ResponseWriter, r *http.Request) error
}

// ProblemAnswerer is a Mounted whose callers expect errors in another shape than
// RFC 9457. It answers every problem below its prefix, also those met before and
// after Serve. Headers that go with a problem in any shape are set already.
type ProblemAnswerer interface {
	AnswerProblem(w http.ResponseWriter, p *Problem) error
}

// ProblemNamer is an error that knows its problem in the table of this package.
// Its text is the detail and is shown to the caller.
type ProblemNamer interface {
	error
	ProblemName() string
}

// Mount serves m at prefix and everything below it, for all methods. Mount
// before serving.
func (s *Server) Mount(prefix string, m Mounted) {
	serve := func(c echo.Context) error { return m.Serve(c.Response(), c.Request()) }
	s.echo.Any(prefix, serve)
	s.echo.Any(prefix+"/*", serve)
	s.mounts[prefix] = m
}

// MountFront serves m at / alone, where the API has nothing. Mount before serving.
func (s *Server) MountFront(m Mounted) {
	s.echo.GET("/", func(c echo.Context) error { return m.Serve(c.Response(), c.Request()) })
}

// mountedAt is what serves path; nil where the API itself does.
func (s *Server) mountedAt(path string) Mounted {
	for prefix, m := range s.mounts {
		if path == prefix || strings.HasPrefix(path, prefix+"/") {
			return m
		}
	}
	return nil
}

// named is the problem an error names; one that is not in the table is internal.
func named(err ProblemNamer) *Problem {
	kind := problemNamed(err.ProblemName())
	switch {
	case kind == nil:
		return newProblem(&problemInternal, "The request could not be answered.").because(err)
	case kind == &problemStoreUnavailable:
		return storeUnavailable(err)
	}
	return newProblem(kind, "%s", err.Error()).because(err)
}
