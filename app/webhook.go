package app

import (
	"context"
	"errors"
	"slices"

	"onejob/api"
	"onejob/config"
	"onejob/handlers"
	"onejob/webhooks"
)

// hostShare is how many receivers that do not answer it takes to hold up the rest:
// each host gets that part of a worker's deliveries.
const hostShare = 5

// addresses are where deliveries may go. With the fixed keys on, the process is on
// loopback, and so may its receivers be.
func (a *App) addresses() webhooks.Addresses {
	allowed := webhooks.Addresses{AllowHTTP: a.cfg.Webhooks.AllowHTTP, Allow: a.cfg.Webhooks.AllowPrivate}
	if a.devKeys {
		allowed.Allow = slices.Concat(allowed.Allow, webhooks.Loopback())
	}
	return allowed
}

func (a *App) secrets() *webhooks.Secrets {
	secrets := &webhooks.Secrets{Redis: a.rdb}
	if a.devKeys {
		secrets.Fixed = webhooks.DevSecrets()
	}
	return secrets
}

func (a *App) newWebhooks() *handlers.Webhooks {
	return handlers.NewWebhooks(handlers.WebhookOptions{
		Store: a.store, Secrets: a.secrets(), Sender: webhooks.NewSender(a.addresses(), a.cfg.Webhooks.Timeout),
		Hosts: webhooks.NewHosts(a.cfg.Webhooks.Concurrency / hostShare), Slowdowns: webhooks.Slowdowns{Redis: a.rdb},
		Log: a.log, Observe: a.metrics.webhooks.tried, Tracer: a.tracer,
	})
}

// checkWebhook is api.Config.CheckWebhook.
func (a *App) checkWebhook(ctx context.Context, owner, address string) error {
	if err := a.addresses().Check(address); err != nil {
		return &api.WebhookRefusal{Why: err.Error()}
	}
	_, err := a.secrets().Of(ctx, owner)
	if errors.Is(err, webhooks.ErrNoSecret) {
		return &api.WebhookRefusal{
			Why:  "there is no secret to sign its deliveries with",
			Hint: "Have the operator run: onejob keys webhook-secret " + owner,
		}
	}
	return err
}

// WithWebhookSecrets runs do on the webhook secrets of a Redis.
func WithWebhookSecrets(ctx context.Context, target config.Redis, do func(context.Context, *webhooks.Secrets) error) error {
	rdb, err := connection{target}.client()
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, &webhooks.Secrets{Redis: rdb}), rdb.Close())
}
