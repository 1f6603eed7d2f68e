package dashboard

import (
	"net/http"
	"strconv"

	"onejob/audit"
	"onejob/auth"
)

// Monitor returns asynqmon behind our login, to be mounted at MonitorRoot. Operators
// may do all that asynqmon can, viewers look, owners are refused. Whatever is not a
// look is entered in the audit log first.
//
// Its actions are safe for jobs: it moves wake-ups and tickets, and what may be
// called because of that is decided by the scripts (design §4).
func (p *Pages) Monitor() *QueueMonitor { return &QueueMonitor{p} }

// QueueMonitor is asynqmon behind our login. It is safe for concurrent use.
type QueueMonitor struct{ pages *Pages }

// Serve answers one request, or returns a Refusal and answers nothing.
func (m *QueueMonitor) Serve(w http.ResponseWriter, r *http.Request) error {
	p := m.pages
	guardMonitor(w.Header())
	who, s, err := p.identify(w, r)
	if err == nil {
		err = admit(r, who, s)
	}
	switch {
	case problemIs(err, "unauthorized") && r.Header.Get("Authorization") == "" && looks(r) && wantsPage(r):
		w.Header().Del("WWW-Authenticate")
		http.Redirect(w, r, loginURL(r), http.StatusSeeOther)
		return nil
	case err != nil:
		return err
	case looks(r):
		m.look(w, r, who)
		return nil
	}
	return m.change(w, r, who)
}

func (m *QueueMonitor) look(w http.ResponseWriter, r *http.Request, who auth.Identity) {
	asynqmon := m.pages.read
	if who.MayOperate() {
		asynqmon = m.pages.full
	}
	judged := &verdict{ResponseWriter: w}
	defer judged.finish()
	if !wantsPage(r) {
		asynqmon.ServeHTTP(judged, r)
		return
	}
	page := &linked{ResponseWriter: judged}
	asynqmon.ServeHTTP(page, r)
	page.finish()
}

// change enters what asynqmon is asked to do, lets it, and enters its answer.
func (m *QueueMonitor) change(w http.ResponseWriter, r *http.Request, who auth.Identity) error {
	p := m.pages
	ctx, cancel := decided(r.Context())
	defer cancel()
	e := entryOf(r, who, "monitor")
	e.Target = r.Method + " " + r.URL.Path
	announced, err := p.cfg.Audit.Record(ctx, e)
	if err != nil {
		p.cfg.Log.Error("no audit entry, so no change", "action", e.Action, "target", e.Target, "error", err)
		return refuse("store-unavailable", "The audit log takes no entries, so nothing was changed.")
	}
	status := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	judged := &verdict{ResponseWriter: status}
	p.full.ServeHTTP(judged, r)
	judged.finish()
	outcome, detail := audit.Done, ""
	switch {
	case status.status >= http.StatusInternalServerError:
		outcome = audit.Failed
	case status.status >= http.StatusBadRequest:
		outcome = audit.Refused
	}
	if outcome != audit.Done {
		detail = "asynqmon answered " + strconv.Itoa(status.status)
	}
	p.settle(ctx, announced, outcome, detail)
	return nil
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController find what is beneath.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }
