package webhooks

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// SecretPrefix begins every secret (Standard Webhooks, "Signature scheme").
const SecretPrefix = "whsec_"

// secretSize is how many random bytes a secret has; Standard Webhooks asks for 24
// to 64.
const secretSize = 32

// ErrNoSecret says that an owner has no secret to sign with.
var ErrNoSecret = errors.New("the owner has no webhook secret")

// Secret is what an owner's deliveries are signed with. While it is rotated they
// carry a signature by either, so that the receiver may change over at any moment.
type Secret struct {
	Owner         string
	Current       string // whsec_ and base64
	Created       time.Time
	Previous      string    // empty: there is none, or its time is over
	PreviousUntil time.Time // zero without Previous
}

// Keys are the secrets that sign now, the current one first.
func (s Secret) Keys() []string {
	if s.Previous == "" {
		return []string{s.Current}
	}
	return []string{s.Current, s.Previous}
}

// Secrets keeps the owners' secrets in Redis, in oj:webhook-secret:<hash of the
// owner>. They are kept as they are, for a signature cannot be made from a digest:
// whoever can read the Redis can sign. It is safe for concurrent use.
type Secrets struct {
	Redis redis.UniversalClient
	// Fixed are secrets by owner that hold where the store has none: those of the
	// development keys. Defaults to none.
	Fixed map[string]string
	// Now is the clock that ends an overlap. Defaults to time.Now.
	Now func() time.Time
}

func secretKey(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return "oj:webhook-secret:" + hex.EncodeToString(sum[:16])
}

func (s *Secrets) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// Of is the owner's secret as it is now, or ErrNoSecret.
func (s *Secrets) Of(ctx context.Context, owner string) (Secret, error) {
	return s.read(ctx, s.Redis, owner)
}

func (s *Secrets) read(ctx context.Context, from redis.Cmdable, owner string) (Secret, error) {
	fields, err := from.HGetAll(ctx, secretKey(owner)).Result()
	if err != nil {
		return Secret{}, fmt.Errorf("reading the webhook secret of an owner: %w", err)
	}
	if fields["current"] == "" {
		if fixed, ok := s.Fixed[owner]; ok {
			return Secret{Owner: owner, Current: fixed}, nil
		}
		return Secret{}, ErrNoSecret
	}
	secret := Secret{Owner: owner, Current: fields["current"], Created: fromMillis(fields["created"])}
	if until := fromMillis(fields["previous_until"]); fields["previous"] != "" && s.now().Before(until) {
		secret.Previous, secret.PreviousUntil = fields["previous"], until
	}
	return secret, nil
}

// Ensure gives the owner's secret, and makes it if there is none; made tells.
func (s *Secrets) Ensure(ctx context.Context, owner string) (secret Secret, made bool, err error) {
	err = s.change(ctx, owner, func(old Secret, known bool) (Secret, bool) {
		secret, made = old, !known
		if made {
			secret = s.fresh(owner)
		}
		return secret, made
	})
	return secret, made, err
}

// Rotate gives the owner a new secret. The one before signs along for overlap, and
// one before that no more.
func (s *Secrets) Rotate(ctx context.Context, owner string, overlap time.Duration) (Secret, error) {
	var secret Secret
	err := s.change(ctx, owner, func(old Secret, known bool) (Secret, bool) {
		secret = s.fresh(owner)
		if known && overlap > 0 {
			secret.Previous, secret.PreviousUntil = old.Current, secret.Created.Add(overlap)
		}
		return secret, true
	})
	return secret, err
}

func (s *Secrets) fresh(owner string) Secret {
	var b [secretSize]byte
	_, _ = rand.Read(b[:]) // never fails
	return Secret{
		Owner: owner, Current: SecretPrefix + base64.StdEncoding.EncodeToString(b[:]), Created: s.now().UTC().Truncate(time.Millisecond),
	}
}

// changeTries bounds how often a change begins anew because another came between.
const changeTries = 10

// change reads, decides and writes as one step: of two at once, one begins anew.
func (s *Secrets) change(ctx context.Context, owner string, decide func(old Secret, known bool) (Secret, bool)) error {
	for range changeTries {
		err := s.Redis.Watch(ctx, func(tx *redis.Tx) error {
			old, err := s.read(ctx, tx, owner)
			if err != nil && !errors.Is(err, ErrNoSecret) {
				return err
			}
			secret, write := decide(old, err == nil)
			if !write {
				return nil
			}
			_, err = tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.Del(ctx, secretKey(owner))
				pipe.HSet(ctx, secretKey(owner), secret.fields())
				return nil
			})
			return err //nolint:wrapcheck // wrapped below, where a conflict is told from the rest
		}, secretKey(owner))
		if errors.Is(err, redis.TxFailedErr) {
			continue
		}
		if err != nil {
			return fmt.Errorf("changing the webhook secret of an owner: %w", err)
		}
		return nil
	}
	return errors.New("changing the webhook secret of an owner: others change it all the time; try again")
}

func (s Secret) fields() map[string]any {
	fields := map[string]any{"owner": s.Owner, "current": s.Current, "created": s.Created.UnixMilli()}
	if s.Previous != "" {
		fields["previous"], fields["previous_until"] = s.Previous, s.PreviousUntil.UnixMilli()
	}
	return fields
}

func fromMillis(text string) time.Time {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// DevSecrets are the fixed secrets of the owners of the development keys. They are
// public, like those keys.
func DevSecrets() map[string]string {
	secrets := map[string]string{}
	for _, owner := range []string{"dev", "other", "dev-operator"} {
		sum := sha256.Sum256([]byte("onejob development webhook secret of " + owner))
		secrets[owner] = SecretPrefix + base64.StdEncoding.EncodeToString(sum[:])
	}
	return secrets
}
