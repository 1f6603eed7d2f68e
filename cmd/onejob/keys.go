package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"onejob/app"
	"onejob/auth"
)

func newKeys() *cobra.Command {
	c := &cobra.Command{Use: "keys", Short: "Make, list, rotate and revoke API keys; webhook secrets"}
	c.AddCommand(newKeysCreate(), newKeysList(), newKeysRotate(), newKeysRevoke(), newKeysWebhookSecret())
	return c
}

// withKeys runs do on the key store of the configured Redis.
func (s *settings) withKeys(ctx context.Context, do func(context.Context, *auth.Keys) error) error {
	target, err := s.target()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	return app.WithKeys(ctx, target, do)
}

func newKeysCreate() *cobra.Command {
	var s settings
	var owner, role, label string
	var expires time.Duration
	var asJSON bool
	c := &cobra.Command{
		Use: "create --owner OWNER", Short: "Make a key; it is shown once and stored hashed", Args: noArgs,
	}
	s.register(c)
	c.Flags().StringVar(&owner, "owner", "", "who the key, and every job made with it, belongs to")
	c.Flags().StringVar(&role, "role", string(auth.Submit), "submit, viewer or operator")
	c.Flags().StringVar(&label, "label", "", "what it is for, to tell it from others")
	c.Flags().DurationVar(&expires, "expires", 0, "how long it is good for; 0 for ever")
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if owner == "" {
			return usageError{fmt.Errorf("--owner is missing: whom does the key belong to?")}
		}
		if _, err := auth.ParseRole(role); err != nil {
			return usageError{fmt.Errorf("--role: %w", err)}
		}
		if expires < 0 {
			return usageError{fmt.Errorf("--expires %s is past; want how long it is good for, such as 720h", expires)}
		}
		var until time.Time
		if expires > 0 {
			until = time.Now().Add(expires)
		}
		return s.withKeys(c.Context(), func(ctx context.Context, keys *auth.Keys) error {
			secret, key, err := keys.Create(ctx, owner, auth.Role(role), label, until)
			if err != nil {
				return fmt.Errorf("making a key: %w", err)
			}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(madeKey{shownKeyOf(key), secret})
			}
			sayMade(c, secret, key)
			return nil
		})
	}
	return c
}

func newKeysList() *cobra.Command {
	var s settings
	var asJSON bool
	c := &cobra.Command{Use: "list", Short: "List keys, never their secrets", Args: noArgs}
	s.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return s.withKeys(c.Context(), func(ctx context.Context, keys *auth.Keys) error {
			all, err := keys.List(ctx)
			if err != nil {
				return fmt.Errorf("listing keys: %w", err)
			}
			if asJSON {
				shown := make([]shownKey, len(all))
				for i, k := range all {
					shown[i] = shownKeyOf(k)
				}
				return json.NewEncoder(c.OutOrStdout()).Encode(shown)
			}
			table := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			_, _ = fmt.Fprintln(table, "ID\tOWNER\tROLE\tSTATE\tLABEL\tCREATED\tEXPIRES")
			for _, k := range all {
				expires := "never"
				if !k.Expires.IsZero() {
					expires = k.Expires.Format(time.RFC3339)
				}
				_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Owner, k.Role, shownKeyOf(k).State, k.Label, k.Created.Format(time.RFC3339), expires)
			}
			return table.Flush()
		})
	}
	return c
}

func newKeysRevoke() *cobra.Command {
	var s settings
	c := &cobra.Command{Use: "revoke ID", Short: "Revoke a key; within 5 s it opens nothing any more"}
	c.Args = oneKey
	s.register(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return s.withKeys(c.Context(), func(ctx context.Context, keys *auth.Keys) error {
			if err := keys.Revoke(ctx, args[0]); err != nil {
				return fmt.Errorf("revoking %s: %w", args[0], err)
			}
			_, _ = fmt.Fprintln(c.ErrOrStderr(), args[0], "is revoked")
			return nil
		})
	}
	return c
}
