package config

import (
	"errors"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Kind is what stands behind a Redis URL.
type Kind string

// Kinds of Redis.
const (
	KindSingle   Kind = "single"
	KindSentinel Kind = "sentinel" // the URL has master_name
	KindCluster  Kind = "cluster"  // the URL has addr and no master_name
)

// Kind tells from the URL's form, as go-redis reads it, what is behind it. A
// Cluster of which only one node is known is written by naming that node twice:
// redis://node:6379?addr=node:6379.
func (r Redis) Kind() Kind {
	u, err := url.Parse(r.URL)
	if err != nil {
		return KindSingle
	}
	switch query := u.Query(); {
	case query.Has("master_name"):
		return KindSentinel
	case query.Has("addr"):
		return KindCluster
	}
	return KindSingle
}

// refused asks go-redis whether it can use the URL, and says why not. The
// reason does not repeat the URL: it may hold a password.
func (r Redis) refused() string {
	var err error
	switch r.Kind() {
	case KindSentinel:
		_, err = redis.ParseFailoverURL(r.URL)
	case KindCluster:
		_, err = redis.ParseClusterURL(r.URL)
	default:
		_, err = redis.ParseURL(r.URL)
	}
	var syntax *url.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &syntax):
		return "is not a URL (special characters in a password are written as %XX)"
	}
	return "is not a Redis URL (" + strings.TrimPrefix(err.Error(), "redis: ") + ")"
}
