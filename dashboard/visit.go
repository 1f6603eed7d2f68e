package dashboard

import (
	"context"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"strings"
	"unicode/utf8"

	"onejob/audit"
	"onejob/auth"
)

const (
	// headerCSRF carries the session's token with htmx's requests; forms have it in
	// the field fieldCSRF.
	headerCSRF = "X-CSRF-Token"
	fieldCSRF  = "csrf"
	// headerLive marks what a live page fetches by itself.
	headerLive = "X-Onejob-Live"
)

// maxForm is the largest form that is read: a result of 1 MiB and what is around it.
const maxForm = 1<<20 + 64<<10

// maxReason is the longest reason a person may give, in characters, as in the API.
const maxReason = 500

// visit is one request of somebody who is signed in.
type visit struct {
	*Pages
	w       http.ResponseWriter
	r       *http.Request
	session *session
	who     auth.Identity
}

// admit refuses what would change something and may not: a viewer's, one of
// another site, one without the session's token.
func (v *visit) admit() error {
	if looks(v.r) {
		return nil
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		return refuse("request-invalid", "The form cannot be read, or is larger than 1 MiB.")
	}
	if !sameOrigin(v.r) || !v.carriesToken() {
		return refuse("forbidden", "The request did not come from this page as it was shown to you. Load the page again and repeat what you did.")
	}
	// Signing out is everybody's.
	if !v.who.MayOperate() && v.r.URL.Path != Root+"/logout" {
		return refuse("forbidden", "Your key has the role viewer: it looks at everything and changes nothing. Sign in with an operator's key to do this.")
	}
	return nil
}

func (v *visit) carriesToken() bool {
	token := v.r.Header.Get(headerCSRF)
	if token == "" {
		token = v.r.PostForm.Get(fieldCSRF)
	}
	return subtle.ConstantTimeCompare([]byte(token), []byte(v.session.csrf())) == 1
}

// ctx bounds a look at the store.
func (v *visit) ctx() (context.Context, context.CancelFunc) { return reading(v.r.Context()) }

// field is a form's field without blanks around it.
func (v *visit) field(name string) string { return strings.TrimSpace(v.r.PostForm.Get(name)) }

// reason is why a person does something; no change is made without one.
func (v *visit) reason() (string, error) { return checkReason(v.field("reason")) }

// checkReason refuses a reason that says nothing, or too much.
func checkReason(reason string) (string, error) {
	switch {
	case reason == "":
		return "", refuse("request-invalid", "Say why: the reason goes into the audit trail, for whoever asks later.")
	case utf8.RuneCountInString(reason) > maxReason:
		return "", refuse("request-invalid", "The reason is longer than 500 characters.")
	}
	return reason, nil
}

// change makes a change, entered in the audit log before (without an entry there is
// no change) and with its outcome afterwards. do's error is returned.
func (v *visit) change(action, target, reason string, do func(ctx context.Context) error) error {
	ctx, cancel := decided(v.r.Context())
	defer cancel()
	return v.audited(ctx, v.entry(action, target, reason), do)
}

func (v *visit) entry(action, target, reason string) audit.Entry {
	e := entryOf(v.r, v.who, action)
	e.Target, e.Reason = target, reason
	return e
}

// entryOf begins an entry of who asks with r.
func entryOf(r *http.Request, who auth.Identity, action string) audit.Entry {
	return audit.Entry{Actor: actor(who), KeyID: who.KeyID, Role: string(who.Role), Action: action, From: address(r)}
}

// audited enters e, does it, and enters what became of it.
func (p *Pages) audited(ctx context.Context, e audit.Entry, do func(ctx context.Context) error) error {
	announced, err := p.cfg.Audit.Record(ctx, e)
	if err != nil {
		p.cfg.Log.Error("no audit entry, so no change", "action", e.Action, "target", e.Target, "error", err)
		return refuse("store-unavailable", "The audit log takes no entries, so nothing was changed.")
	}
	outcome, detail := audit.Done, ""
	failed := do(ctx)
	if failed != nil {
		outcome, detail = audit.Failed, failed.Error()
		if refused(failed) {
			outcome = audit.Refused
		}
	}
	p.settle(ctx, announced, outcome, detail)
	return failed
}

// settle enters what became of a change. The change is made by now, so that the
// entry is lost is only logged; the announcement stays.
func (p *Pages) settle(ctx context.Context, announced audit.Entry, outcome audit.Outcome, detail string) {
	ctx, cancel := decided(ctx) // what was done may have used up the time
	defer cancel()
	if err := p.cfg.Audit.Settle(ctx, announced, outcome, detail); err != nil {
		p.cfg.Log.Error("the outcome of a change is missing in the audit log",
			"action", announced.Action, "target", announced.Target, "outcome", outcome, "error", err)
	}
}

// refused tells whether an error is a definite no: nothing was changed.
func refused(err error) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.Problem != "store-unavailable"
}

// done says a sentence on the page a change leads to.
func (v *visit) done(sentence, to string) error {
	ctx, cancel := decided(v.r.Context())
	defer cancel()
	if err := v.sessions.say(ctx, v.session.token, sentence); err != nil {
		v.cfg.Log.Warn("what was done is not said", "error", err)
	}
	return v.redirect(to)
}

// redirect answers a change, or an address that has moved.
func (v *visit) redirect(to string) error {
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// actor is who, as job trails name him.
func actor(who auth.Identity) string {
	if who.MayOperate() {
		return "operator:" + who.Owner
	}
	return who.Owner
}

// address is where a request came from. Behind a proxy it is the proxy's: what the
// headers say of it, anybody could write.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
