package dashboard

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"onejob/auth"
)

// Refusal is why a request is not let in. Whoever mounted the page answers it.
type Refusal struct {
	Problem string // its name in the API's table (design §7)
	Detail  string // fit for the caller
}

func (r *Refusal) Error() string { return r.Detail }

// ProblemName is the name of the problem to answer with.
func (r *Refusal) ProblemName() string { return r.Problem }

func refuse(problem, detail string) error { return &Refusal{Problem: problem, Detail: detail} }

// identify takes the session of the request's cookie or, for scripts, a key from
// HTTP Basic, as the password to any user name, or from Bearer. The session is nil
// for who came with a key.
func (p *Pages) identify(w http.ResponseWriter, r *http.Request) (auth.Identity, *session, error) {
	_, key, basic := r.BasicAuth()
	if !basic {
		key, _ = auth.Bearer(r.Header.Get("Authorization"))
	}
	if key == "" {
		s, err := p.session(r)
		switch {
		case errors.Is(err, errNoSession):
			return auth.Identity{}, nil, unauthorized(w, r, "Sign in at "+Root+", or send an operator's or a viewer's key as the password; the user name does not matter.")
		case err != nil:
			return auth.Identity{}, nil, p.away("looking for a session", err)
		}
		return s.who, s, nil
	}
	who, err := p.cfg.Keys.Authenticate(r.Context(), key)
	switch {
	case errors.Is(err, auth.ErrUnauthorized):
		return auth.Identity{}, nil, unauthorized(w, r, "The key is not accepted.")
	case err != nil:
		return auth.Identity{}, nil, p.away("asking for a key", err)
	}
	return who, nil, nil
}

// session is that of the request's cookie. A request of a live page itself does not
// keep it from ending for idleness.
func (p *Pages) session(r *http.Request) (*session, error) {
	ctx, cancel := reading(r.Context())
	defer cancel()
	used := r.Header.Get(headerLive) == ""
	return p.sessions.find(ctx, cookieSession.read(r, p.secure(r)), used)
}

// away is what a request is answered while the store does not.
func (p *Pages) away(doing string, err error) error {
	if !errors.Is(err, context.Canceled) {
		p.cfg.Log.Warn("the dashboard cannot reach the store", "doing", doing, "error", err)
	}
	return refuse("store-unavailable", "The store of keys and sessions did not answer.")
}

// unauthorized also sends the challenge that goes with a 401 (RFC 9110 §15.5.2).
// That of Basic makes a browser ask for a password by itself, which is for who has
// no page to sign in at; a page's own calls get one that browsers leave alone.
func unauthorized(w http.ResponseWriter, r *http.Request, detail string) error {
	challenge := `Basic realm="onejob", charset="UTF-8"`
	if r.Header.Get("Sec-Fetch-Site") != "" && r.Header.Get("Authorization") == "" {
		challenge = `Bearer realm="onejob"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	return refuse("unauthorized", detail)
}

// noSession is unauthorized for what takes a session alone: the dashboard's pages. A
// password typed into a browser's own dialog would lead nowhere.
func noSession(w http.ResponseWriter) error {
	w.Header().Set("WWW-Authenticate", `Bearer realm="onejob"`)
	return refuse("unauthorized", "Sign in at "+Root+" with a browser; scripts use the API.")
}

// admit refuses who may not be at the queues and what may not be done from where.
func admit(r *http.Request, who auth.Identity, s *session) error {
	if !who.SeesEveryone() {
		return refuse("forbidden", "The queues belong to everybody's jobs; an owner's key does not open them.")
	}
	if looks(r) {
		return nil
	}
	if !who.MayOperate() {
		return refuse("forbidden", "A viewer's key looks at the queues and changes nothing.")
	}
	if !sameOrigin(r) || s != nil && !ownPage(r) {
		return refuse("forbidden", "The request came from another site.")
	}
	return nil
}

// looks tells whether a request changes nothing (RFC 9110 §9.2.1).
func looks(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// loginURL is where to sign in, to come back to the request's address.
func loginURL(r *http.Request) string {
	next := r.URL.RequestURI()
	if !looks(r) {
		next = Root
	}
	return Root + "/login?" + url.Values{"next": {sitePath(next)}}.Encode()
}

// loginURLOf is loginURL for a page that says its own address in a header.
func loginURLOf(address string) string {
	next := Root
	if u, err := url.Parse(address); err == nil {
		next = sitePath(u.RequestURI())
	}
	return Root + "/login?" + url.Values{"next": {next}}.Encode()
}
