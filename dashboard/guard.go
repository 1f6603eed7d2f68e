package dashboard

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"onejob/auth"
)

// Authenticator tells whose key it is; *auth.Keys is one.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (auth.Identity, error)
}

// Refusal is why a request is not let in. Whoever mounted the page answers it.
type Refusal struct {
	Problem string // its name in the API's table (design §7)
	Detail  string // fit for the caller
}

func (r *Refusal) Error() string { return r.Detail }

// ProblemName is the name of the problem to answer with.
func (r *Refusal) ProblemName() string { return r.Problem }

func refuse(problem, detail string) error { return &Refusal{Problem: problem, Detail: detail} }

// identify takes the key from HTTP Basic, as the password to any user name,
// which is what a browser can send by itself, or from Bearer.
func identify(w http.ResponseWriter, r *http.Request, keys Authenticator) (auth.Identity, error) {
	_, key, basic := r.BasicAuth()
	if !basic {
		key, _ = auth.Bearer(r.Header.Get("Authorization"))
	}
	if key == "" {
		return auth.Identity{}, unauthorized(w, "Sign in with an operator's or a viewer's key as the password; the user name does not matter.")
	}
	who, err := keys.Authenticate(r.Context(), key)
	switch {
	case errors.Is(err, auth.ErrUnauthorized):
		return auth.Identity{}, unauthorized(w, "The key is not accepted.")
	case err != nil:
		return auth.Identity{}, refuse("store-unavailable", "The store of keys did not answer.")
	}
	return who, nil
}

// unauthorized also sends the challenge that makes a browser ask for the key.
func unauthorized(w http.ResponseWriter, detail string) error {
	w.Header().Set("WWW-Authenticate", `Basic realm="onejob", charset="UTF-8"`)
	return refuse("unauthorized", detail)
}

// admit refuses who may not be here and what may not be done from where.
func admit(r *http.Request, who auth.Identity) error {
	if !who.SeesEveryone() {
		return refuse("forbidden", "The queues belong to everybody's jobs; an owner's key does not open them.")
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if !who.MayOperate() {
		return refuse("forbidden", "A viewer's key looks at the queues and changes nothing.")
	}
	if !sameOrigin(r) {
		return refuse("forbidden", "The request came from another site.")
	}
	return nil
}

// sameOrigin tells whether a write was made by the monitor's own page, or not by
// a browser at all. A browser sends the key along with whatever another site
// makes it post, and asynqmon's calls need no body, so this is the only lock.
// Every browser says where a write comes from: in Sec-Fetch-Site (W3C Fetch
// Metadata), the older ones in Origin (RFC 6454).
func sameOrigin(r *http.Request) bool {
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || !strings.EqualFold(u.Host, r.Host) {
			return false
		}
	}
	return true
}
