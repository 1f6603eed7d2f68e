package recovery_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

func (p *provider) note(attempt, status string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.statuses[attempt] = status
}

// status answers a look-up; 404 for an attempt the provider never heard of.
func (p *provider) status(w http.ResponseWriter, r *http.Request) {
	attempt := r.PathValue("attempt")
	_ = p.ledger.add(entry{Kind: "lookup", Provider: r.PathValue("name"), Attempt: attempt, At: time.Now()})
	p.mu.Lock()
	status, outage := p.statuses[attempt], p.outage
	p.mu.Unlock()
	if outage {
		http.Error(w, "down", http.StatusInternalServerError)
		return
	}
	answer := map[string]any{"status": status}
	switch status {
	case "", "absent":
		http.NotFound(w, r)
		return
	case "succeeded":
		answer["result"] = map[string]string{"printed": attempt}
	case "failed":
		answer["error"] = map[string]string{"message": "no"}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (p *provider) cancel(w http.ResponseWriter, r *http.Request) {
	_ = p.ledger.add(entry{Kind: "cancel", Provider: r.PathValue("name"), Attempt: r.PathValue("attempt"), At: time.Now()})
	w.WriteHeader(http.StatusAccepted)
}

// set is the test's own door: what look-ups answer from now on.
func (p *provider) set(w http.ResponseWriter, r *http.Request) {
	if outage := r.FormValue("outage"); outage != "" {
		p.mu.Lock()
		p.outage = outage == "on"
		p.mu.Unlock()
	}
	if attempt := r.FormValue("attempt"); attempt != "" {
		p.note(attempt, r.FormValue("status"))
	}
	w.WriteHeader(http.StatusNoContent)
}

// lookupsSay sets what the provider answers about an attempt.
func (w *world) lookupsSay(attempt, status string) {
	w.t.Helper()
	w.set(url.Values{"attempt": {attempt}, "status": {status}})
}

// lookupOutage makes look-ups answer 500, or not.
func (w *world) lookupOutage(on bool) {
	w.t.Helper()
	w.set(url.Values{"outage": {map[bool]string{true: "on", false: "off"}[on]}})
}

func (w *world) set(form url.Values) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.ctx, http.MethodPost, "http://"+w.providerAddr+"/set", strings.NewReader(form.Encode()))
	require.NoError(w.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := w.http.Do(req)
	require.NoError(w.t, err)
	require.NoError(w.t, resp.Body.Close())
	require.Equal(w.t, http.StatusNoContent, resp.StatusCode)
}
