package dashboard

import (
	"context"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"onejob/audit"
	"onejob/auth"
	"onejob/jobs"
	"onejob/roster"
)

// Authenticator tells whose key it is; *auth.Keys is one.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (auth.Identity, error)
	// Recall tells whose key has that digest, as long as the key works.
	Recall(ctx context.Context, digest string) (auth.Identity, error)
}

// Watcher signals after writes to any job; *jobs.Store is one.
type Watcher interface {
	WatchAll() (changed <-chan struct{}, stop func(), err error)
}

// Config is what the pages are made of.
type Config struct {
	// AskedToWait is until when a provider asked to be left alone; zero when it did
	// not.
	AskedToWait func(ctx context.Context, provider string) (time.Time, error)
	// Audit is the book every change is entered in first.
	Audit *audit.Log
	// Certificates are those of the providers of routes with a contract.
	Certificates func(ctx context.Context) ([]Certificate, error)
	// Durability is the class of the store: fsync, everysec or memory.
	Durability string
	// Embedded says that the store is inside this very process.
	Embedded bool
	// Idle is how long a session lasts without a request of its person's; live
	// updates do not count. Defaults to an hour, at most Session.
	Idle time.Duration
	// Jobs is what the pages about jobs are made of.
	Jobs JobsConfig
	// Keys are the API keys people sign in with.
	Keys Authenticator
	// Log defaults to nowhere.
	Log *slog.Logger
	// Monitor opens the connections of asynqmon. Nil: there is no asynqmon.
	Monitor asynq.RedisConnOpt
	// Partitions tell what each partition of the store holds.
	Partitions func(ctx context.Context) ([]jobs.PartitionFacts, error)
	// Processes are those that are there, and how they get on.
	Processes func(ctx context.Context) ([]roster.Process, error)
	// Providers are those of the configuration.
	Providers []Provider
	// Redis holds sessions and counts failed logins; it also is what the page Store
	// looks at. It is not closed.
	Redis redis.UniversalClient
	// Secure says that people come by https, whatever the request looks like: the
	// public address begins with it.
	Secure bool
	// Session is how long a session lasts at most. Defaults to 8 hours.
	Session time.Duration
	// Version is this program's, for the foot of every page.
	Version string
	// Watch tells pages that a job has changed.
	Watch Watcher
}

// Defaults of a session.
const (
	defaultSession = 8 * time.Hour
	defaultIdle    = time.Hour
)

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Session == 0 {
		c.Session = defaultSession
	}
	if c.Idle == 0 {
		c.Idle = defaultIdle
	}
	c.Idle = min(c.Idle, c.Session)
	c.Jobs = c.Jobs.withDefaults()
	return c
}
