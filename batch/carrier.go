package batch

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// Limits of a client that carries scripts.
const (
	// oldest is the age at which a connection is left for another. One that never
	// broke would lead to a master that has become a replica for as long as it lives:
	// what writes is sent elsewhere one by one, and what only reads is answered from
	// the past.
	oldest = 10 * time.Second
	// dialTime bounds one attempt to connect. Who waits meanwhile can do nothing else,
	// and what nobody waits for any more is kept until it has failed.
	dialTime = 2 * time.Second
	// window is how many scripts may be sent and not answered, and as many wait to be
	// sent; then their callers wait, each as long as he wants. While Redis is silent that
	// is what is kept of those who have gone.
	window = 256
)

// Carrier fits the options of a client to what New needs of it: no connection is older
// than 10 s, and one that nobody answers is given up after 2 s.
func Carrier(options *redis.UniversalOptions) {
	options.ConnMaxLifetime = oldest
	options.DialTimeout = dialTime
	options.DialerRetries = 1
}
