package app

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"onejob/batch"
	"onejob/config"
)

// connection makes clients of the configured Redis. As asynq's RedisConnOpt it
// gives those who close their client, as asynqmon does, one of their own.
type connection struct {
	redis config.Redis
}

// MakeRedisClient is asynq.RedisConnOpt. The URL was checked at load.
func (c connection) MakeRedisClient() any {
	client, err := c.client()
	if err != nil {
		panic(err)
	}
	return client
}

func (c connection) client() (redis.UniversalClient, error) { return c.watched(nil) }

// watched is a client, fit for scripts, whose new connections are shown to onConnect
// before they are used.
func (c connection) watched(onConnect func(context.Context, *redis.Conn) error) (redis.UniversalClient, error) {
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	options.OnConnect = onConnect
	batch.Carrier(options)
	return redis.NewUniversalClient(options), nil
}

// options brings the three forms of go-redis's URLs to one: ParseURL and its
// siblings know which of the many settings a URL can carry.
func (c connection) options() (*redis.UniversalOptions, error) {
	switch c.redis.Kind() {
	case config.KindSentinel:
		o, err := redis.ParseFailoverURL(c.redis.URL)
		if err != nil {
			return nil, fmt.Errorf("reading redis.url: %w", err)
		}
		return &redis.UniversalOptions{
			Addrs: o.SentinelAddrs, MasterName: o.MasterName, DB: o.DB, Username: o.Username, Password: o.Password,
			SentinelUsername: o.SentinelUsername, SentinelPassword: o.SentinelPassword, TLSConfig: o.TLSConfig,
			PoolSize: o.PoolSize, ContextTimeoutEnabled: true,
		}, nil
	case config.KindCluster:
		o, err := redis.ParseClusterURL(c.redis.URL)
		if err != nil {
			return nil, fmt.Errorf("reading redis.url: %w", err)
		}
		return &redis.UniversalOptions{
			Addrs: o.Addrs, IsClusterMode: true, Username: o.Username, Password: o.Password, TLSConfig: o.TLSConfig,
			PoolSize: o.PoolSize, ContextTimeoutEnabled: true,
		}, nil
	}
	o, err := redis.ParseURL(c.redis.URL)
	if err != nil {
		return nil, fmt.Errorf("reading redis.url: %w", err)
	}
	return &redis.UniversalOptions{
		Addrs: []string{o.Addr}, DB: o.DB, Username: o.Username, Password: o.Password, TLSConfig: o.TLSConfig,
		PoolSize: o.PoolSize, ContextTimeoutEnabled: true,
	}, nil
}
