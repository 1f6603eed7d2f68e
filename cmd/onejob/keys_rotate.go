package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"onejob/auth"
)

func newKeysRotate() *cobra.Command {
	var s settings
	var asJSON bool
	var overlap, expires time.Duration
	c := &cobra.Command{
		Use: "rotate ID", Short: "Make a key in place of another; both work for a while",
		Long: `Makes a key for the same owner, with the same role and label, and lets the old one
end after --overlap. Until then both work, so that callers can change over one by
one without stopping. onejob keys revoke ends the old one at once.`,
		Args: oneKey,
	}
	s.register(c)
	c.Flags().DurationVar(&overlap, "overlap", defaultOverlap, "how long the old key still works; 0: not at all")
	c.Flags().DurationVar(&expires, "expires", 0, "how long the new key is good for; 0: as long as the old one was given")
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	c.RunE = func(c *cobra.Command, args []string) error {
		if overlap < 0 || expires < 0 {
			return usageError{fmt.Errorf("--overlap and --expires are not negative")}
		}
		return s.withKeys(c.Context(), func(ctx context.Context, keys *auth.Keys) error {
			rotated, err := keys.Rotate(ctx, args[0], overlap, expires)
			if rotated.Secret != "" {
				if asJSON {
					_ = json.NewEncoder(c.OutOrStdout()).Encode(madeKey{shownKeyOf(rotated.New), rotated.Secret})
				} else {
					sayMade(c, rotated.Secret, rotated.New)
				}
			}
			if err != nil {
				return fmt.Errorf("rotating a key: %w", err)
			}
			_, _ = fmt.Fprintf(c.ErrOrStderr(), "%s works until %s.\n", args[0], rotated.Old.Expires.Format(time.RFC3339))
			return nil
		})
	}
	return c
}

// oneKey wants the id of a key.
func oneKey(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{fmt.Errorf("want one key id, as in onejob keys list")}
	}
	return nil
}

// shownKey is a key as --json prints it.
type shownKey struct {
	ID        string    `json:"id"`
	Owner     string    `json:"owner"`
	Role      auth.Role `json:"role"`
	Label     string    `json:"label"`
	State     string    `json:"state"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	Successor string    `json:"successor,omitempty"` // the key that was made in its place
}

// madeKey is one that was just made.
type madeKey struct {
	shownKey
	Key string `json:"key"` // the secret; shown this once
}

func shownKeyOf(k auth.Key) shownKey {
	state := "active"
	if k.Expired(time.Now()) {
		state = "expired"
	}
	return shownKey{ID: k.ID, Owner: k.Owner, Role: k.Role, Label: k.Label, State: state, CreatedAt: k.Created, ExpiresAt: k.Expires, Successor: k.Successor}
}

// sayMade prints the secret, alone, where a program can take it, and what it is for a
// person.
func sayMade(c *cobra.Command, secret string, key auth.Key) {
	_, _ = fmt.Fprintln(c.OutOrStdout(), secret)
	until := ""
	if !key.Expires.IsZero() {
		until = ", until " + key.Expires.Format(time.RFC3339)
	}
	_, _ = fmt.Fprintf(c.ErrOrStderr(), "%s: owner %s, role %s%s. It is shown this once.\n", key.ID, key.Owner, key.Role, until)
}
