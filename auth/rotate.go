package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// shorten sets the end of a key that is still there: one that was revoked meanwhile
// must not come back as half a record.
var shorten = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'expires', ARGV[1], 'successor', ARGV[2])
return 1`)

// Rotated is a key in place of another.
type Rotated struct {
	Secret string
	New    Key
	Old    Key // with the time at which it ends now
}

// Rotate makes a key for the same owner, with the same role and label, and lets the
// old one end after an overlap in which both work, so that nothing has to stop while
// the secret is exchanged. lifetime is the new key's; 0: as long as the old one was
// given, counted from now. A crash in between leaves two keys that work, never none.
//
// Errors: ErrNotFound; ErrUnavailable; that the old key has expired already, or was
// rotated before, when its end is no longer the one it was given.
func (k *Keys) Rotate(ctx context.Context, id string, overlap, lifetime time.Duration) (Rotated, error) {
	old, err := k.byID(ctx, id)
	if err != nil {
		return Rotated{}, err
	}
	now := k.now().UTC()
	if old.Expired(now) {
		return Rotated{}, fmt.Errorf("%s has expired at %s; make a new key instead", id, old.Expires.Format(time.RFC3339))
	}
	if old.Successor != "" {
		return Rotated{}, fmt.Errorf("%s was rotated before; rotate %s, which is in its place", id, old.Successor)
	}
	if lifetime == 0 && !old.Expires.IsZero() {
		lifetime = old.Expires.Sub(old.Created)
	}
	var expires time.Time
	if lifetime > 0 {
		expires = now.Add(lifetime)
	}
	r := Rotated{Old: old}
	if r.Secret, r.New, err = k.Create(ctx, old.Owner, old.Role, old.Label, expires); err != nil {
		return Rotated{}, err
	}
	if ends := now.Add(overlap).Truncate(time.Millisecond); old.Expires.IsZero() || ends.Before(old.Expires) {
		r.Old.Expires = ends
	}
	r.Old.Successor = r.New.ID
	there, err := shorten.Run(ctx, k.client, []string{recordPrefix + old.name}, millis(r.Old.Expires), r.New.ID).Int()
	if err != nil {
		// The new key works and its secret must not be lost.
		return r, unavailable("ending the old API key", err)
	}
	if there == 0 {
		return r, fmt.Errorf("ending %s: %w", id, ErrNotFound)
	}
	return r, nil
}

// byID finds a key by its id.
func (k *Keys) byID(ctx context.Context, id string) (Key, error) {
	name, err := k.client.HGet(ctx, indexKey, id).Result()
	if errors.Is(err, redis.Nil) {
		return Key{}, fmt.Errorf("looking for %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return Key{}, unavailable("looking for an API key", err)
	}
	fields, err := k.client.HGetAll(ctx, recordPrefix+name).Result()
	if err != nil {
		return Key{}, unavailable("looking for an API key", err)
	}
	if len(fields) == 0 {
		return Key{}, fmt.Errorf("looking for %s: %w", id, ErrNotFound)
	}
	return parseKey(name, fields)
}
