package dashboard

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
)

// backLink leads from asynqmon to the dashboard. It floats over asynqmon's page, so
// nothing there moves.
const backLink = `<a href="` + Root + `" id="onejob-dashboard" style="position:fixed;right:16px;top:16px;z-index:1500;` +
	`padding:6px 12px;border-radius:6px;background:#1f2a44;color:#fff;font:500 13px/1.5 system-ui,sans-serif;text-decoration:none">` +
	`&larr; onejob dashboard</a>`

// linked puts backLink into a page. Anything that is not a page goes through
// untouched.
type linked struct {
	http.ResponseWriter
	page   bytes.Buffer
	status int
	decided,
	isPage bool
}

func (l *linked) WriteHeader(status int) {
	l.decide(nil)
	l.status = status
	if !l.isPage {
		l.ResponseWriter.WriteHeader(status)
	}
}

func (l *linked) Write(b []byte) (int, error) {
	l.decide(b)
	if l.isPage {
		return l.page.Write(b) //nolint:wrapcheck // into memory
	}
	return l.ResponseWriter.Write(b) //nolint:wrapcheck // what we are wrapped around
}

// decide looks at the type of the answer, before its first byte.
func (l *linked) decide(first []byte) {
	if l.decided {
		return
	}
	l.decided = true
	kind := l.Header().Get("Content-Type")
	if kind == "" && first != nil {
		kind = http.DetectContentType(first)
		l.Header().Set("Content-Type", kind)
	}
	l.isPage = strings.HasPrefix(kind, "text/html") && l.Header().Get("Content-Encoding") == ""
}

// finish sends the page.
func (l *linked) finish() {
	if !l.isPage {
		return
	}
	l.Header().Del("Content-Length")
	if l.status != 0 {
		l.ResponseWriter.WriteHeader(l.status)
	}
	before, after, found := bytes.Cut(l.page.Bytes(), []byte("</body>"))
	if found {
		before = append(append(bytes.Clone(before), backLink+"</body>"...), after...)
	}
	_, _ = l.ResponseWriter.Write(before) // the browser went away
}

func problemIs(err error, name string) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.Problem == name
}
