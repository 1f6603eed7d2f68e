package lua

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/singleflight"
)

// Caller runs scripts and functions.
type Caller interface {
	redis.Scripter
	FCall(ctx context.Context, function string, keys []string, args ...any) *redis.Cmd
}

// Runner runs verbs as functions where the server has them, else as scripts: the rules are
// the same text, and so are the answers. Functions are made when the library is loaded, and
// not anew at every run as those of a script are, which saves a sixth of the time that a
// verb takes of Redis's one thread. It is safe for concurrent use.
type Runner struct {
	caller  Caller
	rdb     redis.UniversalClient
	loading singleflight.Group

	mu      sync.Mutex
	without time.Time            // until then no server is asked for functions
	tired   map[string]time.Time // until then a server, by its address, is not given the library
}

// errNoServer is for clients that are neither of one server nor of a Cluster's.
var errNoServer = errors.New("no server for a key")

const (
	// withoutFor is how long servers that refused functions are asked for scripts only: they
	// may have been upgraded since, or an ACL changed.
	withoutFor = time.Minute
	// tiredFor is how long a server that did not take the library is left alone with it.
	tiredFor = 10 * time.Second
	// loadTime bounds the giving of the library.
	loadTime = 2 * time.Second
)

// NewRunner returns a Runner that asks caller, and gives the library to the servers of
// rdb, which are the same.
func NewRunner(rdb redis.UniversalClient, caller Caller) *Runner {
	return &Runner{rdb: rdb, caller: caller, tired: map[string]time.Time{}}
}

// Run runs a verb. Without a function it costs one round trip more, or several when the
// server is to be given the library first.
func (r *Runner) Run(ctx context.Context, script *redis.Script, keys []string, args ...any) *redis.Cmd {
	return r.RunOn(ctx, r.caller, script, keys, args...)
}

// RunOn is Run over another connection to the same servers.
func (r *Runner) RunOn(ctx context.Context, caller Caller, script *redis.Script, keys []string, args ...any) *redis.Cmd {
	function := Function(script)
	if function == "" || len(keys) == 0 || !r.functions() {
		return script.Run(ctx, caller, keys, args...)
	}
	cmd := caller.FCall(ctx, function, keys, args...)
	if notLoaded(cmd.Err()) && r.load(ctx, keys[0]) {
		cmd = caller.FCall(ctx, function, keys, args...)
		if notLoaded(cmd.Err()) { // another server has answered than the one that was given it
			r.rest(r.address(ctx, keys[0]))
		}
	}
	err := cmd.Err()
	if refused(err) {
		r.doWithout()
	}
	if refused(err) || notLoaded(err) {
		return script.Run(ctx, caller, keys, args...)
	}
	return cmd
}

func (r *Runner) functions() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.without.IsZero() || time.Now().After(r.without)
}

func (r *Runner) doWithout() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.without = time.Now().Add(withoutFor)
}

// rest leaves a server alone with the library for a while.
func (r *Runner) rest(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tired[address] = time.Now().Add(tiredFor)
}

func (r *Runner) rests(address string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.tired[address])
}

// load gives the library to the server that has a key, once for all who miss it at a time,
// and waits for that as long as ctx.
func (r *Runner) load(ctx context.Context, key string) bool {
	server, err := r.server(ctx, key)
	if err != nil {
		return false
	}
	address := server.Options().Addr
	if r.rests(address) {
		return false
	}
	given := r.loading.DoChan(address, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTime) // of whoever came first
		defer cancel()
		err := server.FunctionLoad(ctx, theLibrary().text).Err()
		switch {
		case err == nil || redis.HasErrorPrefix(err, "Library '"+theLibrary().name+"' already exists"):
			return nil, nil
		case refused(err):
			r.doWithout()
		default:
			r.rest(address)
		}
		return nil, err
	})
	select {
	case <-ctx.Done():
		return false
	case loaded := <-given:
		return loaded.Err == nil
	}
}

func (r *Runner) address(ctx context.Context, key string) string {
	server, err := r.server(ctx, key)
	if err != nil {
		return ""
	}
	return server.Options().Addr
}

// server is the one that has a key.
func (r *Runner) server(ctx context.Context, key string) (*redis.Client, error) {
	if cluster, ok := r.rdb.(*redis.ClusterClient); ok {
		return cluster.MasterForKey(ctx, key) //nolint:wrapcheck // looked at, never shown
	}
	if one, ok := r.rdb.(*redis.Client); ok {
		return one, nil
	}
	return nil, errNoServer
}

// NoFunction tells that a server does not know a function, or no functions at all: a
// Runner goes another way then, and nothing is wrong.
func NoFunction(err error) bool {
	return notLoaded(err) || redis.HasErrorPrefix(err, "unknown command") && namesOne(err, "fcall", "function")
}

// notLoaded tells that the server is new, or somebody has deleted the library.
func notLoaded(err error) bool { return redis.HasErrorPrefix(err, "Function not found") }

// refused tells that a server, or a proxy before it, has no functions, or does not let us
// use them: it has refused the command, and not what a function asked of it. That it would
// name by the function.
func refused(err error) bool {
	if notLoaded(err) || err == nil || strings.Contains(err.Error(), "script: onejob_") {
		return false
	}
	if redis.HasErrorPrefix(err, "NOPERM") {
		return namesOne(err, "'fcall", "'function")
	}
	var answered redis.Error
	return errors.As(err, &answered) && strings.HasPrefix(err.Error(), "ERR ")
}

// namesOne tells whether an error speaks of one of these.
func namesOne(err error, words ...string) bool {
	text := strings.ToLower(err.Error())
	return slices.ContainsFunc(words, func(name string) bool { return strings.Contains(text, name) })
}
