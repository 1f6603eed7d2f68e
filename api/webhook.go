package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"onejob/auth"
)

// maxWebhookURL is the longest webhook_url, in bytes.
const maxWebhookURL = 2048

// WebhookRefusal says why a webhook_url cannot be told anything, and what to do.
type WebhookRefusal struct {
	Why  string // goes on after "The field webhook_url is refused: "
	Hint string // may be empty
}

func (r *WebhookRefusal) Error() string { return r.Why }

// noWebhooks is Config.CheckWebhook where nobody makes deliveries: a caller must
// not wait for a call that never comes.
func noWebhooks(context.Context, string, string) error {
	return &WebhookRefusal{Why: "no deliveries are made here", Hint: "Leave webhook_url out and wait with Prefer: wait, or follow GET /v1/jobs/{id}/events."}
}

// webhookURL reads the field by what a URL is. Where it may lead is for checkWebhook.
func webhookURL(f fields) (string, *Problem) {
	address, p := f.text("webhook_url")
	if _, ok := f["webhook_url"]; p != nil || !ok {
		return "", p
	}
	if len(address) > maxWebhookURL {
		return "", invalidField("webhook_url", "The field webhook_url is longer than %d bytes.", maxWebhookURL)
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return "", invalidField("webhook_url", "The field webhook_url must be an absolute http or https URL.")
	}
	return address, nil
}

// checkWebhook asks whether the job's webhook could be told anything.
func (s *Server) checkWebhook(ctx context.Context, owner string, r *submitRequest) *Problem {
	if r.WebhookURL == "" {
		return nil
	}
	ctx, cancel := reading(ctx)
	defer cancel()
	err := s.config.CheckWebhook(ctx, owner, r.WebhookURL)
	if refusal, ok := errors.AsType[*WebhookRefusal](err); ok {
		p := invalidField("webhook_url", "The field webhook_url is refused: %s.", refusal.Why)
		if refusal.Hint != "" {
			p = p.hint("%s", refusal.Hint)
		}
		return p
	}
	if err != nil {
		return storeUnavailable(err)
	}
	return nil
}

// redeliverWebhook is POST /v1/jobs/{id}/webhooks/{n}/redeliver: a delivery is made
// again, under its old id.
func (s *Server) redeliverWebhook(c echo.Context, who auth.Identity) error {
	number, err := strconv.ParseUint(c.Param("n"), 10, 31)
	if err != nil || number == 0 {
		return newProblem(&problemNotFound, "A delivery is named by its number, from 1.")
	}
	d, err := s.decide(c, who, "reason")
	if err != nil {
		return err
	}
	ctx, cancel := decided(c.Request().Context())
	defer cancel()
	changed, err := s.store.Redeliver(ctx, d.Decision, int(number))
	return s.answerChanged(c, http.StatusOK, changed, err)
}
