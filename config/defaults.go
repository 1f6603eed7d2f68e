package config

import (
	"cmp"
	"time"
)

// The defaults of design §5 and §8.
const (
	defaultRedisURL     = "redis://127.0.0.1:6379/0"
	defaultWaitReplicas = 1 // on Cluster and Sentinel
	defaultAddr         = "127.0.0.1:8080"
	defaultDoorWait     = 10 * time.Minute
	defaultConnections  = 16384

	defaultBreakerFailures = 5
	defaultBreakerOpenFor  = 30 * time.Second

	defaultCertificateLifetime = 7 * 24 * time.Hour

	defaultRetentionJob = 72 * time.Hour
	defaultRetentionKey = 720 * time.Hour
	defaultLease        = 15 * time.Second
	defaultBeat         = 5 * time.Second

	defaultTimeout    = 10 * time.Second
	defaultDeadline   = time.Minute
	defaultAITimeout  = time.Minute
	defaultAIDeadline = 10 * time.Minute

	defaultConcurrency = 10
	defaultTries       = 1
	defaultBackoff     = time.Second
	defaultBackoffMax  = 30 * time.Second
)

// Default returns the configuration of an empty file: a local Redis, no
// providers, no routes. It is enough for commands that only read the store.
func Default() *Config {
	c := &Config{}
	c.SetDefaults()
	return c
}

// SetDefaults fills every field that is zero with its default. On Cluster and
// Sentinel that makes a WaitReplicas of 0 into 1; who builds a Config in code
// and wants 0 there sets it afterwards.
func (c *Config) SetDefaults() {
	c.setDefaults(func(string) bool { return false })
}

// setDefaults leaves alone what written says the file itself holds, where zero
// is a value.
func (c *Config) setDefaults(written func(path string) bool) {
	c.Redis.URL = cmp.Or(c.Redis.URL, defaultRedisURL)
	c.Redis.Durability = cmp.Or(c.Redis.Durability, DurabilityAny)
	if c.Redis.Kind() != KindSingle && !written("redis.wait_replicas") {
		c.Redis.WaitReplicas = cmp.Or(c.Redis.WaitReplicas, defaultWaitReplicas)
	}
	c.Server.Addr = cmp.Or(c.Server.Addr, defaultAddr)
	c.Server.DoorWait = cmp.Or(c.Server.DoorWait, defaultDoorWait)
	c.Server.MaxConnections = cmp.Or(c.Server.MaxConnections, defaultConnections)
	c.Retention.Job = cmp.Or(c.Retention.Job, defaultRetentionJob)
	c.Retention.Key = cmp.Or(c.Retention.Key, defaultRetentionKey)
	c.Lease = cmp.Or(c.Lease, defaultLease)
	c.Beat = cmp.Or(c.Beat, defaultBeat)
	for name, p := range c.Providers {
		p.setDefaults()
		c.Providers[name] = p
	}
	for name, r := range c.Routes {
		r.setDefaults()
		c.Routes[name] = r
	}
	c.Certificates.Lifetime = cmp.Or(c.Certificates.Lifetime, defaultCertificateLifetime)
	c.Certificates.Runs = cmp.Or(c.Certificates.Runs, 1)
	c.Dashboard.setDefaults()
	c.Webhooks.setDefaults()
	c.Drain = cmp.Or(c.Drain, c.longestDeadline())
}

func (p *Provider) setDefaults() {
	timeout, deadline := defaultTimeout, defaultDeadline
	if p.AI() {
		timeout, deadline = defaultAITimeout, defaultAIDeadline
	}
	if apis := knownTypes[p.Type].apis; len(apis) > 0 {
		p.API = cmp.Or(p.API, apis[0])
	}
	if p.Breaker != nil {
		p.Breaker = &Breaker{
			Failures: cmp.Or(p.Breaker.Failures, defaultBreakerFailures), OpenFor: cmp.Or(p.Breaker.OpenFor, defaultBreakerOpenFor),
		}
	}
	p.BaseURL = cmp.Or(p.BaseURL, knownTypes[p.Type].baseURL)
	p.Timeout = cmp.Or(p.Timeout, timeout)
	p.Deadline = cmp.Or(p.Deadline, deadline)
	p.Concurrency = cmp.Or(p.Concurrency, defaultConcurrency)
}

func (r *Route) setDefaults() {
	r.Tries = cmp.Or(r.Tries, defaultTries)
	r.MaxAttempts = cmp.Or(r.MaxAttempts, r.Tries*len(r.Providers))
	r.Backoff.Initial = cmp.Or(r.Backoff.Initial, defaultBackoff)
	r.Backoff.Max = cmp.Or(r.Backoff.Max, defaultBackoffMax)
	r.Failover = cmp.Or(r.Failover, FailoverCertified)
	r.Effects = cmp.Or(r.Effects, EffectsExternal)
}

// longestDeadline is the default deadline where there is no provider.
func (c *Config) longestDeadline() time.Duration {
	if len(c.Providers) == 0 {
		return defaultDeadline
	}
	var longest time.Duration
	for _, p := range c.Providers {
		longest = max(longest, p.Deadline)
	}
	return longest
}
