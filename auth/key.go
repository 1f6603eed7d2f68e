package auth

import (
	"fmt"
	"strconv"
	"time"
)

// Key is what is known of an API key: everything but its secret.
type Key struct {
	ID      string // key_ and a ULID; in logs, and for Revoke
	Owner   string
	Role    Role
	Label   string    // for people; may be empty
	Created time.Time // UTC, milliseconds
	Expires time.Time // UTC, milliseconds; zero: never
	// Successor is the id of the key that Rotate made in place of this one.
	Successor string

	name, check string // of the secret's digest, see split
}

// Expired tells whether the key has stopped working at that time.
func (k Key) Expired(at time.Time) bool { return !k.Expires.IsZero() && !at.Before(k.Expires) }

// Identity is who a request with this key comes from.
func (k Key) Identity() Identity { return Identity{Owner: k.Owner, Role: k.Role, KeyID: k.ID} }

// fields are those of the hash oj:apikey:<name>; times are milliseconds since
// the Unix epoch, an expires of 0 means never.
func (k Key) fields() map[string]any {
	return map[string]any{
		"id":      k.ID,
		"owner":   k.Owner,
		"role":    string(k.Role),
		"label":   k.Label,
		"created": millis(k.Created),
		"expires": millis(k.Expires),
		"check":   k.check,
	}
}

// parseKey reads what fields wrote. A record that is damaged is an error: it
// opens nothing.
func parseKey(name string, fields map[string]string) (Key, error) {
	k := Key{name: name, check: fields["check"], ID: fields["id"], Owner: fields["owner"], Label: fields["label"], Successor: fields["successor"]}
	var err error
	if k.Role, err = ParseRole(fields["role"]); err != nil {
		return Key{}, fmt.Errorf("reading API key %q: %w", k.ID, err)
	}
	if err = CheckOwner(k.Owner); err != nil {
		return Key{}, fmt.Errorf("reading API key %q: %w", k.ID, err)
	}
	if k.Created, err = parseMillis(fields["created"]); err != nil {
		return Key{}, fmt.Errorf("reading API key %q: created: %w", k.ID, err)
	}
	if k.Expires, err = parseMillis(fields["expires"]); err != nil {
		return Key{}, fmt.Errorf("reading API key %q: expires: %w", k.ID, err)
	}
	return k, nil
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func parseMillis(s string) (time.Time, error) {
	ms, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading a time: %w", err)
	}
	if ms == 0 {
		return time.Time{}, nil
	}
	return time.UnixMilli(ms).UTC(), nil
}
