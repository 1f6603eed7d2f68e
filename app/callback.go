package app

import (
	"context"
	"errors"
	"fmt"

	"onejob/api"
	"onejob/config"
	"onejob/jobs"
	"onejob/providers"
	httpprovider "onejob/providers/http"
	"onejob/providers/replicate"
	"onejob/recovery"
	"onejob/webhooks"
)

// reporter takes the callbacks of providers. What they send depends on the type.
type reporter struct {
	callbacks  *webhooks.Callbacks
	reconciler *recovery.Reconciler
	cfg        *config.Config
}

// Report is api.Reporter.
func (r reporter) Report(ctx context.Context, token string, body []byte) (jobs.Reported, error) {
	jobID, attempt, err := r.callbacks.Find(ctx, token)
	if errors.Is(err, webhooks.ErrNoCallback) {
		return jobs.Reported{}, api.ErrNoCallback
	}
	if err != nil {
		return jobs.Reported{}, err
	}
	job, err := r.reconciler.Store.Get(ctx, jobID)
	if err != nil {
		return jobs.Reported{}, fmt.Errorf("reading the job of a callback: %w", err)
	}
	understand := httpprovider.Report
	if a := job.Attempt(attempt); a != nil && r.cfg.Providers[a.Provider].Type == replicate.Type {
		understand = replicate.Report
	}
	outcome := understand(body)
	if outcome.Kind == providers.Unknown {
		return jobs.Reported{}, fmt.Errorf("%w: %s", api.ErrBadReport, outcome.Message)
	}
	return r.reconciler.Report(ctx, jobID, attempt, outcome)
}

func (a *App) callbacks() *webhooks.Callbacks {
	return &webhooks.Callbacks{Redis: a.rdb, PublicURL: a.cfg.Server.PublicURL, Keep: a.cfg.Retention.Job}
}

// callbackURL is handlers.Options.Callback.
func (a *App) callbackURL(ctx context.Context, provider, jobID string, attempt int) (string, error) {
	if !a.cfg.Providers[provider].Callback {
		return "", nil
	}
	return a.callbacks().URL(ctx, jobID, attempt)
}
