package dashboard

import (
	"net/http"
	"strings"
	"time"
)

// cookie is one of ours, by the name it has over http and over https. Over https it
// carries the prefix __Host- (RFC 6265bis §4.1.3.2): no sister site and no plain
// connection can have set it.
type cookie string

const (
	cookieSession cookie = "oj_session"
	// cookieLogin ties a login form to the browser it was shown to, so that no other
	// site can sign somebody in as somebody else.
	cookieLogin cookie = "oj_login"
)

func (c cookie) name(secure bool) string {
	if secure {
		return "__Host-" + string(c)
	}
	return string(c)
}

func (c cookie) read(r *http.Request, secure bool) string {
	found, err := r.Cookie(c.name(secure))
	if err != nil {
		return ""
	}
	return found.Value
}

// set gives the cookie a value until a time. It is Lax, not Strict: a link in an
// alert opens the page for who is signed in. Writes do not rest on it (see admit).
func (c cookie) set(w http.ResponseWriter, secure bool, value string, until time.Time) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure wherever the browser talks https
		Name: c.name(secure), Value: value, Path: "/", Expires: until.UTC(), MaxAge: int(time.Until(until).Seconds()),
		Secure: secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

func (c cookie) clear(w http.ResponseWriter, secure bool) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // as set makes it
		Name: c.name(secure), Path: "/", MaxAge: -1, Secure: secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// secure tells whether the browser talks https: to us, to the public address, or to
// a proxy that says so. X-Forwarded-Proto is believed from anybody, because it can
// only make the cookie stricter, and only that of the browser that sent it.
func (p *Pages) secure(r *http.Request) bool {
	return r.TLS != nil || p.cfg.Secure || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}
