package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"onejob/auth"
)

// handler is a call made by somebody known.
type handler func(c echo.Context, who auth.Identity) error

// Who may make a call.
var (
	readers   = func(auth.Identity) bool { return true } // of which jobs, jobOf says
	writers   = auth.Identity.MayWrite
	operators = auth.Identity.MayOperate
	watchers  = auth.Identity.SeesEveryone
)

// as lets in those who may make the call.
func (s *Server) as(may func(auth.Identity) bool, next handler) echo.HandlerFunc {
	return func(c echo.Context) error {
		who, err := s.admit(c.Response(), c.Request(), may)
		if err != nil {
			return err
		}
		return next(c, who)
	}
}

func (s *Server) admit(w http.ResponseWriter, r *http.Request, may func(auth.Identity) bool) (auth.Identity, error) {
	who, err := s.identify(w, r)
	if err != nil {
		return auth.Identity{}, err
	}
	callIn(r.Context()).owner = who.Owner
	if err := s.limitRequest(w, r, who); err != nil {
		return auth.Identity{}, err
	}
	if !may(who) {
		return auth.Identity{}, newProblem(&problemForbidden, "A key of role %s cannot make this call.", who.Role)
	}
	return who, nil
}

func (s *Server) identify(w http.ResponseWriter, r *http.Request) (auth.Identity, error) {
	// Two headers are joined, as a proxy would, into a token nobody has.
	token, err := auth.Bearer(strings.Join(r.Header.Values("Authorization"), ", "))
	if err == nil {
		var who auth.Identity
		if who, err = s.auth.Authenticate(r.Context(), token); err == nil {
			return who, nil
		}
	}
	switch {
	case errors.Is(err, auth.ErrUnauthorized):
		return auth.Identity{}, unauthorized(w, reasonOf(err))
	case errors.Is(err, auth.ErrUnavailable):
		return auth.Identity{}, storeUnavailable(err)
	}
	return auth.Identity{}, err
}

// reasonOf is what auth says after the word unauthorized, fit for the caller.
func reasonOf(err error) string {
	_, reason, ok := strings.Cut(err.Error(), auth.ErrUnauthorized.Error()+": ")
	if !ok {
		return "The API key is not accepted."
	}
	return strings.ToUpper(reason[:1]) + reason[1:] + "."
}

// unauthorized also sends the challenge that goes with a 401 (RFC 6750 §3).
func unauthorized(w http.ResponseWriter, detail string) *Problem {
	w.Header().Set("WWW-Authenticate", `Bearer realm="onejob"`)
	return newProblem(&problemUnauthorized, "%s", detail)
}

// actor is who, as the trail names him.
func actor(who auth.Identity) string {
	if who.MayOperate() {
		return "operator:" + who.Owner
	}
	return who.Owner
}
