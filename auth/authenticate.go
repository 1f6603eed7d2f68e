package auth

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Bearer takes the token out of an Authorization header (RFC 6750 §2.1; the
// scheme's name is case-insensitive, RFC 9110 §11.1). The error is
// ErrUnauthorized.
func Bearer(header string) (string, error) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(header), " ")
	token = strings.TrimSpace(token)
	switch {
	case header == "":
		return "", fmt.Errorf("%w: there is no Authorization header; send Authorization: Bearer <API key>", ErrUnauthorized)
	case !strings.EqualFold(scheme, "Bearer"), token == "":
		return "", fmt.Errorf("%w: the Authorization header is not of the form Bearer <API key>", ErrUnauthorized)
	}
	return token, nil
}

// Authenticate tells whose key the token is. Errors: ErrUnauthorized, with the
// reason; ErrUnavailable when the store does not answer, within 4 s, and what it said
// before is not remembered.
func (k *Keys) Authenticate(ctx context.Context, token string) (Identity, error) {
	sum := digest(token)
	if _, ok := k.fixed[sum]; !ok && !wellFormed(token) {
		return Identity{}, fmt.Errorf("%w: this is not an API key of onejob, or not all of it", ErrUnauthorized)
	}
	return k.Recall(ctx, sum)
}

// Digest is what Recall knows a key by. It is no secret of the key's: nobody can
// make the key of it, and no API takes it in the key's place.
func Digest(token string) string { return digest(token) }

// Recall tells whose key has that digest, as long as the key works: it is asked
// again at every request of a session that began with the key, and keeps the key
// itself out of the session's record. Errors are those of Authenticate.
func (k *Keys) Recall(ctx context.Context, sum string) (Identity, error) {
	if identity, ok := k.fixed[sum]; ok {
		return identity, nil
	}
	now := k.now()
	name, check := split(sum)
	key, known, ok := k.cache.get(name, now)
	if !ok {
		var err error
		if key, known, err = k.fetch(ctx, name); err != nil {
			return Identity{}, err
		}
		// Counted from before the question was sent, so that the answer is never
		// older than CacheTTL.
		k.cache.put(name, key, known, now)
	}
	switch {
	case !known, !matches(key.check, check):
		return Identity{}, fmt.Errorf("%w: the API key is unknown or was revoked", ErrUnauthorized)
	case key.Expired(k.now()):
		return Identity{}, fmt.Errorf("%w: the API key has expired", ErrUnauthorized)
	}
	return key.Identity(), nil
}

// askTime bounds a question to Redis, so that a store that is away is answered with 503
// within 5 s (design §7).
const askTime = 4 * time.Second

// fetch asks Redis. A damaged record is a key nobody has.
func (k *Keys) fetch(ctx context.Context, name string) (key Key, known bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	fields, err := k.client.HGetAll(ctx, recordPrefix+name).Result()
	if err != nil {
		return Key{}, false, unavailable("looking up an API key", err)
	}
	if len(fields) == 0 {
		return Key{}, false, nil
	}
	if key, err = parseKey(name, fields); err != nil {
		return Key{}, false, nil // fails closed; List shows it
	}
	return key, true, nil
}
