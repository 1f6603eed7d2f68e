// Package webhooks is what goes between onejob and other servers without being
// asked for: the callbacks of providers, which report an attempt's end at a URL of
// its own, and the deliveries to jobs' webhooks, after Standard Webhooks
// (docs/webhooks.md): secrets, signatures, where deliveries may go, how they are sent
// and how much at once. What is delivered, and when again, the store decides.
package webhooks

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// CallbackPath is where the API takes callbacks; a token follows.
const CallbackPath = "/v1/callbacks/"

// ErrNoCallback says that a token is not known, or not any more.
var ErrNoCallback = errors.New("no such callback")

// Callbacks makes and finds the URLs at which providers report. A token is
// random (130 bits), stored as its SHA-256, and good for one attempt only.
type Callbacks struct {
	// Redis holds oj:callback:<SHA-256 of the token>.
	Redis redis.UniversalClient
	// PublicURL is where providers reach the API.
	PublicURL string
	// Keep is how long a URL is good for.
	Keep time.Duration
}

func callbackKey(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "oj:callback:" + hex.EncodeToString(sum[:])
}

// URL makes the callback URL of an attempt. It is to be stored before the call
// leaves, so an error means that the call must not.
func (c *Callbacks) URL(ctx context.Context, jobID string, attempt int) (string, error) {
	token := rand.Text()
	key := callbackKey(token)
	pipe := c.Redis.TxPipeline()
	pipe.HSet(ctx, key, "job", jobID, "attempt", attempt)
	pipe.PExpire(ctx, key, c.Keep)
	if _, err := pipe.Exec(ctx); err != nil {
		return "", fmt.Errorf("storing a callback of job %s: %w", jobID, err)
	}
	return strings.TrimSuffix(c.PublicURL, "/") + CallbackPath + token, nil
}

// Find tells which attempt a token is of, or ErrNoCallback.
func (c *Callbacks) Find(ctx context.Context, token string) (jobID string, attempt int, err error) {
	fields, err := c.Redis.HGetAll(ctx, callbackKey(token)).Result()
	if err != nil {
		return "", 0, fmt.Errorf("finding a callback: %w", err)
	}
	attempt, err = strconv.Atoi(fields["attempt"])
	if err != nil || fields["job"] == "" {
		return "", 0, ErrNoCallback
	}
	return fields["job"], attempt, nil
}
