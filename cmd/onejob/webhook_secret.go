package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"onejob/app"
	"onejob/auth"
	"onejob/webhooks"
)

// defaultOverlap is how long the secret before signs along after a rotation.
const defaultOverlap = 24 * time.Hour

// shownSecret is a secret as --json prints it.
type shownSecret struct {
	Owner         string    `json:"owner"`
	Secret        string    `json:"secret"`
	Made          bool      `json:"made"` // by this command
	Created       time.Time `json:"created"`
	PreviousUntil time.Time `json:"previous_until,omitzero"` // until then the one before signs, too
}

func newKeysWebhookSecret() *cobra.Command {
	var s settings
	var rotate, asJSON bool
	var overlap time.Duration
	c := &cobra.Command{
		Use: "webhook-secret OWNER", Short: "Make, show or rotate the secret an owner's webhooks are signed with",
		Long: `Shows the secret that the webhooks of an owner's jobs are signed with, and makes
it when there is none. With --rotate it makes a new one; the one before signs along
for --overlap, so that receivers can change over at any moment in between.

The secret is stored as it is, for a signature cannot be made without it.`,
	}
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("want one owner, as in onejob keys create --owner")}
		}
		if err := auth.CheckOwner(args[0]); err != nil {
			return usageError{err}
		}
		return nil
	}
	s.register(c)
	c.Flags().BoolVar(&rotate, "rotate", false, "make a new one")
	c.Flags().DurationVar(&overlap, "overlap", defaultOverlap, "how long the one before signs along; 0: not at all")
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	c.RunE = func(c *cobra.Command, args []string) error {
		if overlap < 0 || !rotate && c.Flags().Changed("overlap") {
			return usageError{fmt.Errorf("--overlap goes with --rotate and is not negative")}
		}
		shown, err := s.webhookSecret(c.Context(), args[0], rotate, overlap)
		if err != nil {
			return err
		}
		if asJSON {
			return json.NewEncoder(c.OutOrStdout()).Encode(shown) //nolint:gosec // G117: showing the secret is what was asked for
		}
		_, _ = fmt.Fprintln(c.OutOrStdout(), shown.Secret)
		_, _ = fmt.Fprintln(c.ErrOrStderr(), shown.about())
		return nil
	}
	return c
}

func (s *settings) webhookSecret(ctx context.Context, owner string, rotate bool, overlap time.Duration) (shownSecret, error) {
	target, err := s.target()
	if err != nil {
		return shownSecret{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	var secret webhooks.Secret
	made := true
	err = app.WithWebhookSecrets(ctx, target, func(ctx context.Context, secrets *webhooks.Secrets) (err error) {
		if rotate {
			secret, err = secrets.Rotate(ctx, owner, overlap)
			return err
		}
		secret, made, err = secrets.Ensure(ctx, owner)
		return err
	})
	return shownSecret{
		Owner: owner, Secret: secret.Current, Made: made, Created: secret.Created, PreviousUntil: secret.PreviousUntil,
	}, err
}

func (s shownSecret) about() string {
	text := fmt.Sprintf("owner %s: made %s", s.Owner, s.Created.Format(time.RFC3339))
	if s.Made {
		text = fmt.Sprintf("owner %s: made now", s.Owner)
	}
	if !s.PreviousUntil.IsZero() {
		text += fmt.Sprintf("; the one before signs along until %s", s.PreviousUntil.Format(time.RFC3339))
	}
	return text
}
