package app

import (
	"context"
	"errors"

	"onejob/auth"
	"onejob/config"
)

// WithKeys runs do on the API keys of a Redis.
func WithKeys(ctx context.Context, target config.Redis, do func(context.Context, *auth.Keys) error) error {
	rdb, err := connection{target}.client()
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, auth.New(rdb)), rdb.Close())
}
