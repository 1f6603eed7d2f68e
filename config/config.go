// Package config reads onejob's configuration: one struct, its defaults in one
// place, strict YAML, and every problem of a file reported at once (design §8).
//
// A file that loads can be run: keys that are unknown, misspelt, of the wrong
// type or of a feature this release does not have are refused by name, never
// ignored. What cannot be seen from the file alone (whether a URL answers,
// whether a contract holds) is not checked here.
package config

import "time"

// Config is everything a process of onejob can be told by its file.
type Config struct {
	// Redis is the store, the judge of every race. Key redis.
	Redis Redis

	// Server is the HTTP side of api and worker processes. Key server.
	Server Server

	// Retention is how long ended jobs and their keys are kept. Key retention.
	Retention Retention

	// Dashboard is about the operators' pages. Key dashboard.
	Dashboard Dashboard

	// Limits are what each owner may ask for. Key limits. Defaults to none.
	Limits Limits

	// Certificates are about proving providers against contracts. Key certificates.
	Certificates Certificates

	// Tracing sends spans to a collector. Key tracing. Defaults to off.
	Tracing Tracing

	// Webhooks are what jobs' webhooks are told, and where. Key webhooks.
	Webhooks Webhooks

	// Drain is how long calls in flight may go on after SIGTERM before their
	// attempts are marked unknown (worker_stopped). Key drain, a duration.
	// Defaults to the longest deadline of all providers.
	Drain time.Duration

	// Lease is how long a claimed attempt stays its worker's without a beat. Key
	// lease, a duration. At least three beats. Defaults to 15s.
	Lease time.Duration

	// Beat is how often a worker extends its leases. Key beat, a duration.
	// Defaults to 5s.
	Beat time.Duration

	// Providers are those who do the work, by name. Names are [a-z0-9_-]+, at
	// most 64 characters; webhooks and operator are queues of our own and cannot
	// be taken (design §4). Key providers. At least one is required.
	Providers map[string]Provider

	// Routes are the named kinds of work, by name; names are like those of
	// providers. Key routes. At least one is required.
	Routes map[string]Route
}

// Redis says where the store is and what it must promise.
type Redis struct {
	// URL is the address in one of go-redis's forms: redis://, rediss:// or
	// unix://; with ?master_name= it is a Sentinel, with ?addr= (further nodes) a
	// Cluster. Key redis.url. Defaults to redis://127.0.0.1:6379/0.
	URL string

	// Durability is the least the server must promise: any, or fsync
	// (appendonly with appendfsync always); a weaker server is refused at boot
	// (design §3). Key redis.durability. Defaults to any, with a warning.
	Durability string

	// WaitReplicas is how many replicas must have a claim before its call may
	// leave (WAIT, design §3). Key redis.wait_replicas, a count. Defaults to 0 on
	// a single server, to 1 on Cluster and Sentinel.
	WaitReplicas int
}

// Values of Redis.Durability.
const (
	DurabilityAny   = "any"
	DurabilityFsync = "fsync"
)

// Server is where a process listens.
type Server struct {
	// Addr is the host:port of the API, or of a worker's health and metrics. Key
	// server.addr. Defaults to 127.0.0.1:8080.
	Addr string

	// AdminAddr is a host:port of its own for operators' tools: /metrics, /healthz,
	// /readyz and the profiler, without keys, so for loopback or a private network.
	// Key server.admin_addr. Defaults to empty: metrics and probes are at Addr alone,
	// the profiler nowhere.
	AdminAddr string

	// PublicURL is the root at which providers reach this API, without a path. Key
	// server.public_url. Defaults to empty: providers are given no callback URL.
	PublicURL string

	// DoorWait is how long the OpenAI-compatible door holds a request open for
	// its job's answer. Key server.door_wait, a duration. Defaults to 10m.
	DoorWait time.Duration

	// MaxConnections is how many connections are held open at Addr at once; who comes
	// beyond waits in the system's queue until one ends. Key server.max_connections, a
	// number. Defaults to 16384.
	MaxConnections int
}

// Certificates say how long what was proven is believed (design §6).
type Certificates struct {
	// Lifetime is how long a certificate is valid. Key certificates.lifetime, a
	// duration. Defaults to 168h (7 days).
	Lifetime time.Duration

	// Reverify makes workers verify every provider of a route with a contract by
	// themselves, so often. Real calls: they cost money. Key certificates.reverify, a
	// duration. Defaults to 0: only people verify.
	Reverify time.Duration

	// Runs is how often a verification by itself runs every test. Key
	// certificates.runs, a count. Defaults to 1.
	Runs int
}

// Retention is counted from the moment a job ends (design §3).
type Retention struct {
	// Job is how long the record of an ended job is kept. Key retention.job, a
	// duration. Defaults to 72h.
	Job time.Duration

	// Key is how long the idempotency key of an ended job is kept; never less
	// than Job. Key retention.key, a duration. Defaults to 720h (30 days).
	Key time.Duration
}
