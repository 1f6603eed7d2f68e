package lua

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/singleflight"
)

// Caller runs scripts and functions.
type Caller interface {
	redis.Scripter
	FCall(ctx context.Context, function string, keys []string, args ...any) *redis.Cmd
}

// Runner runs verbs as functions where the server has them, else as scripts: the text is
// the same, and so are the answers. In a function nothing is made anew but the job, which
// saves a sixth of the time that a verb takes of Redis's one thread. It is safe for
// concurrent use.
type Runner struct {
	caller  Caller
	rdb     redis.UniversalClient
	loading singleflight.Group
	without atomic.Bool // functions
}

// NewRunner returns a Runner that asks caller, and gives the library to the servers of
// rdb, which are the same.
func NewRunner(rdb redis.UniversalClient, caller Caller) *Runner {
	return &Runner{rdb: rdb, caller: caller}
}

// Run runs a verb.
func (r *Runner) Run(ctx context.Context, script *redis.Script, keys []string, args ...any) *redis.Cmd {
	function := Function(script)
	if function == "" || r.without.Load() {
		return script.Run(ctx, r.caller, keys, args...)
	}
	cmd := r.caller.FCall(ctx, function, keys, args...)
	if notLoaded(cmd.Err()) && r.load(ctx) {
		cmd = r.caller.FCall(ctx, function, keys, args...)
	}
	err := cmd.Err()
	if refused(err) {
		r.without.Store(true)
	}
	if refused(err) || notLoaded(err) {
		return script.Run(ctx, r.caller, keys, args...)
	}
	return cmd
}

// load gives the library to every master, once for all who miss it at a time.
func (r *Runner) load(ctx context.Context) bool {
	_, err, _ := r.loading.Do("", func() (any, error) {
		ctx := context.WithoutCancel(ctx) // of whoever came first
		give := func(ctx context.Context, rdb *redis.Client) error {
			return rdb.FunctionLoadReplace(ctx, theLibrary().text).Err()
		}
		if cluster, ok := r.rdb.(*redis.ClusterClient); ok {
			return nil, cluster.ForEachMaster(ctx, give)
		}
		return nil, r.rdb.FunctionLoadReplace(ctx, theLibrary().text).Err()
	})
	if refused(err) || err != nil && strings.HasPrefix(err.Error(), "ERR ") {
		r.without.Store(true) // nor will it later
	}
	return err == nil
}

// NoFunction tells that a server does not know a function, or no functions at all: a
// Runner goes another way then, and nothing is wrong.
func NoFunction(err error) bool { return notLoaded(err) || unknownCommand(err) }

// notLoaded tells that the server is new, or somebody has deleted the library.
func notLoaded(err error) bool { return redis.HasErrorPrefix(err, "Function not found") }

func unknownCommand(err error) bool {
	return redis.HasErrorPrefix(err, "unknown command") && strings.Contains(strings.ToLower(err.Error()), "fcall")
}

// refused tells that the server has no functions, or does not let us use them.
func refused(err error) bool { return unknownCommand(err) || redis.HasErrorPrefix(err, "NOPERM") }
