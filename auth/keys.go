package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"
)

const (
	recordPrefix = "oj:apikey:" // and the name, half of the digest: hash, one key
	indexKey     = "oj:apikeys" // hash: id → name, for List, Revoke and Rotate
)

// Keys is the store of API keys. It is safe for concurrent use, and does not
// close the client it was given.
//
// On a Cluster a record and the index are in different slots and not written
// together. The order of writing sees to it that a key that works is always
// listed; a crash in between leaves an entry of the index that opens nothing,
// which List leaves out and Revoke removes.
type Keys struct {
	client redis.UniversalClient
	fixed  map[string]Identity // by digest; public, so found by it
	cache  *cache
	now    func() time.Time
}

// Option changes what New returns.
type Option func(*Keys)

// New returns the store of API keys in that Redis.
func New(client redis.UniversalClient, opts ...Option) *Keys {
	k := &Keys{client: client, fixed: map[string]Identity{}, cache: newCache(), now: time.Now}
	for _, opt := range opts {
		opt(k)
	}
	return k
}

// Create makes a key and returns its secret, which nothing can show again. A
// zero expires means never. Errors: what is wrong with the arguments, or
// ErrUnavailable; with the latter, a key may have been made whose secret nobody
// has.
func (k *Keys) Create(ctx context.Context, owner string, role Role, label string, expires time.Time) (string, Key, error) {
	key := Key{ID: "key_" + ulid.Make().String(), Owner: owner, Label: label}
	key.Created = k.now().UTC().Truncate(time.Millisecond)
	if !expires.IsZero() {
		key.Expires = expires.UTC().Truncate(time.Millisecond)
	}
	var err error
	if key.Role, err = ParseRole(string(role)); err != nil {
		return "", Key{}, err
	}
	if err := cmp.Or(CheckOwner(owner), checkLabel(label)); err != nil {
		return "", Key{}, err
	}
	if key.Expired(key.Created) {
		return "", Key{}, fmt.Errorf("the key would expire at %s, which is past", key.Expires.Format(time.RFC3339))
	}
	secret := newSecret()
	key.name, key.check = split(digest(secret))
	if err := k.client.HSet(ctx, indexKey, key.ID, key.name).Err(); err != nil {
		return "", Key{}, unavailable("creating an API key", err)
	}
	if err := k.client.HSet(ctx, recordPrefix+key.name, key.fields()).Err(); err != nil {
		return "", Key{}, unavailable("creating an API key", err)
	}
	return secret, key, nil
}

// List returns all keys, also expired ones, oldest first. Damaged records are
// listed with what is readable of them, so that they can be revoked.
func (k *Keys) List(ctx context.Context) ([]Key, error) {
	index, err := k.client.HGetAll(ctx, indexKey).Result()
	if err != nil {
		return nil, unavailable("listing API keys", err)
	}
	records := make(map[string]*redis.MapStringStringCmd, len(index))
	_, err = k.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for id, name := range index {
			records[id] = p.HGetAll(ctx, recordPrefix+name)
		}
		return nil
	})
	if err != nil {
		return nil, unavailable("listing API keys", err)
	}
	keys := make([]Key, 0, len(records))
	for id, record := range records {
		fields := record.Val()
		if len(fields) == 0 {
			continue
		}
		key, err := parseKey(index[id], fields)
		if err != nil {
			key = Key{Owner: fields["owner"], Label: fields["label"]}
		}
		key.ID = id
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return keys, nil
}

// Revoke ends a key: at once in this process, within CacheTTL in others. It is
// ErrNotFound when there is none with that id; revoking again is safe.
func (k *Keys) Revoke(ctx context.Context, id string) error {
	name, err := k.client.HGet(ctx, indexKey, id).Result()
	if errors.Is(err, redis.Nil) {
		return fmt.Errorf("revoking %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return unavailable("revoking an API key", err)
	}
	if err := k.client.Del(ctx, recordPrefix+name).Err(); err != nil {
		return unavailable("revoking an API key", err)
	}
	k.cache.put(name, Key{}, false, k.now())
	if err := k.client.HDel(ctx, indexKey, id).Err(); err != nil {
		return unavailable("revoking an API key", err)
	}
	return nil
}

// Any tells whether the store has any key, working or not. Without one nobody
// but a holder of a fixed key can get in.
func (k *Keys) Any(ctx context.Context) (bool, error) {
	n, err := k.client.HLen(ctx, indexKey).Result()
	if err != nil {
		return false, unavailable("counting API keys", err)
	}
	return n > 0, nil
}

// unavailable keeps the cause for errors.Is and for the log.
func unavailable(doing string, cause error) error {
	return fmt.Errorf("%s: %w: %w", doing, ErrUnavailable, cause)
}
