package dashboard

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"onejob/audit"
	"onejob/auth"
)

// loginTime is how long a login form can be sent.
const loginTime = time.Hour

// loginForm is what the login page shows.
type loginForm struct {
	Next  string
	Proof string // of the cookie the form came with
	Error string
}

// showLogin is GET /login.
func (p *Pages) showLogin(w http.ResponseWriter, r *http.Request) error {
	next := sitePath(r.URL.Query().Get("next"))
	if _, err := p.session(r); err == nil {
		http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // sitePath has let paths of this site through alone
		return nil
	}
	p.loginPage(w, r, http.StatusOK, next, "")
	return nil
}

// loginPage shows the form, tied to this browser: a page of another site can neither
// read the cookie nor the form, so it cannot sign anybody in under a key of its own
// (login CSRF).
func (p *Pages) loginPage(w http.ResponseWriter, r *http.Request, status int, next, problem string) {
	secret := cookieLogin.read(r, p.secure(r))
	if secret == "" {
		secret = rand.Text()
		cookieLogin.set(w, p.secure(r), secret, time.Now().Add(loginTime))
	}
	v := &visit{Pages: p, w: w, r: r}
	v.show(status, "login", page{Title: "Sign in", Data: loginForm{Next: next, Proof: digestOf(secret), Error: problem}})
}

// login is POST /login: a session for a key.
func (p *Pages) login(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	if err := r.ParseForm(); err != nil {
		return refuse("request-invalid", "The form cannot be read.")
	}
	next, secret := sitePath(r.PostForm.Get("next")), cookieLogin.read(r, p.secure(r))
	if !sameOrigin(r) {
		return refuse("forbidden", "The request came from another site.")
	}
	if secret == "" || subtle.ConstantTimeCompare([]byte(digestOf(secret)), []byte(r.PostForm.Get("proof"))) != 1 {
		p.loginPage(w, r, http.StatusForbidden, next, "The form was too old, or your browser keeps no cookies of this site. Try again.")
		return nil
	}
	ctx, cancel := decided(r.Context())
	defer cancel()
	key := strings.TrimSpace(r.PostForm.Get("key"))
	who, err := p.cfg.Keys.Authenticate(ctx, key)
	switch {
	case errors.Is(err, auth.ErrUnauthorized):
		return p.notLetIn(ctx, w, r, next)
	case err != nil:
		return p.away("signing in", err)
	case !who.SeesEveryone():
		return p.onlyOwner(ctx, w, r, who, next)
	}
	return p.letIn(ctx, w, r, key, who, next)
}

// letIn begins the session; the one the browser had before ends.
func (p *Pages) letIn(ctx context.Context, w http.ResponseWriter, r *http.Request, key string, who auth.Identity, next string) error {
	var begun *session
	err := p.audited(ctx, entryOf(r, who, "login"), func(ctx context.Context) (err error) {
		if old := cookieSession.read(r, p.secure(r)); old != "" {
			if err := p.sessions.end(ctx, old); err != nil {
				return err
			}
		}
		begun, err = p.sessions.begin(ctx, key, who)
		return err
	})
	if err != nil {
		return err
	}
	cookieSession.set(w, p.secure(r), begun.token, begun.ends)
	cookieLogin.clear(w, p.secure(r))
	http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // sitePath has let paths of this site through alone
	return nil
}

// notLetIn answers a wrong key.
func (p *Pages) notLetIn(ctx context.Context, w http.ResponseWriter, r *http.Request, next string) error {
	wait, err := p.throttle.wrong(ctx, address(r))
	if err != nil {
		return p.away("signing in", err)
	}
	if wait > 0 { // told in the log already, wrongMost times
		seconds := strconv.Itoa(int(wait/time.Second) + 1)
		w.Header().Set("Retry-After", seconds)
		p.loginPage(w, r, http.StatusTooManyRequests, next,
			"Too many wrong keys came from your address. Try again in "+seconds+" seconds; a key that works is taken at any time.")
		return nil
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="onejob"`)
	p.noteRefusal(ctx, audit.Entry{Actor: "unknown", Action: "login", From: address(r)}, "the key is not accepted")
	p.loginPage(w, r, http.StatusUnauthorized, next,
		"This key is not accepted: it is unknown, was revoked, or has expired. Keys are made with: onejob keys create")
	return nil
}

// onlyOwner answers a key that works and opens no page.
func (p *Pages) onlyOwner(ctx context.Context, w http.ResponseWriter, r *http.Request, who auth.Identity, next string) error {
	p.noteRefusal(ctx, entryOf(r, who, "login"), "the role submit opens no page")
	p.loginPage(w, r, http.StatusForbidden, next, fmt.Sprintf(
		"This is a key of owner %s with the role submit: it submits jobs through the API. The pages show everybody's jobs and are for operators and viewers.", who.Owner))
	return nil
}

// noteRefusal enters a login that changed nothing; that it cannot be entered changes
// nothing either.
func (p *Pages) noteRefusal(ctx context.Context, e audit.Entry, why string) {
	e.Outcome, e.Detail = audit.Refused, why
	if _, err := p.cfg.Audit.Record(ctx, e); err != nil {
		p.cfg.Log.Warn("a refused login is missing in the audit log", "error", err)
	}
}

// logout is POST /logout.
func (p *Pages) logout(v *visit) error {
	err := v.change("logout", "", "", func(ctx context.Context) error {
		return p.sessions.end(ctx, v.session.token)
	})
	if err != nil {
		return err
	}
	cookieSession.clear(v.w, p.secure(v.r))
	return v.redirect(Root + "/login")
}
