package lua_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/lua"
	"onejob/redistest"
)

// seen counts the commands of a client by name.
type seen struct {
	mu    sync.Mutex
	names map[string]int
}

func watch(rdb redis.UniversalClient) *seen {
	s := &seen{names: map[string]int{}}
	rdb.AddHook(s)
	return s
}

func (s *seen) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s *seen) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		s.mu.Lock()
		s.names[cmd.Name()]++
		s.mu.Unlock()
		return next(ctx, cmd)
	}
}

func (s *seen) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (s *seen) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[name]
}

// look runs a verb on a job that is not there.
func look(t *testing.T, r *lua.Runner, partition int) {
	t.Helper()
	prefix := fmt.Sprintf("oj:{%d}:", partition)
	answer, err := r.Run(t.Context(), lua.Look, []string{prefix + "job:none", prefix + "due", prefix + "seq"}, "op", "actor", 1, 1, 1, "x").Slice()
	require.NoError(t, err)
	require.Equal(t, "not_found", answer[0])
}

// TestRunner: a server with functions is given them at the first verb that misses them,
// and runs no script; any other runs scripts, and is asked for functions once.
func TestRunner(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		commands := watch(rdb)
		r := lua.NewRunner(rdb, rdb)
		for range 3 {
			look(t, r, 1)
		}
		if strings.HasSuffix(t.Name(), "miniredis") {
			require.Equal(t, 1, commands.count("fcall"))
			require.Equal(t, 3, commands.count("evalsha"))
			return
		}
		require.GreaterOrEqual(t, commands.count("fcall"), 3)
		require.Zero(t, commands.count("evalsha"))
	})
}

// TestRunner_EveryMaster: of a Cluster each is given the functions.
func TestRunner_EveryMaster(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t)
	r := lua.NewRunner(cluster, cluster)
	commands := watch(cluster)
	for partition := range 64 {
		look(t, r, partition)
	}
	require.Zero(t, commands.count("evalsha"))
	require.LessOrEqual(t, commands.count("fcall"), 65)
}

// TestRunner_LibraryIsGone: somebody deletes it under way; verbs go on, at once and as
// functions, and of many that miss it not each gives it to the server.
func TestRunner_LibraryIsGone(t *testing.T) { //nolint:paralleltest // others share the server
	rdb := redistest.Real(t)
	r := lua.NewRunner(rdb, rdb)
	look(t, r, 1)
	commands := watch(rdb)
	for range 5 {
		require.NoError(t, rdb.FunctionFlush(t.Context()).Err())
		var all sync.WaitGroup
		for partition := range 20 {
			all.Go(func() { look(t, r, partition) })
		}
		all.Wait()
	}
	require.Zero(t, commands.count("evalsha"))
	libraries, err := rdb.FunctionList(t.Context(), redis.FunctionListQuery{}).Result()
	require.NoError(t, err)
	require.Len(t, libraries, 1)
}

// TestRunner_NotAllowed: who may run scripts and not give the server functions, or not run
// them, has scripts.
func TestRunner_NotAllowed(t *testing.T) { //nolint:paralleltest // others share the server
	for name, rules := range map[string][]string{
		"to load": {"+@all", "-function"}, "to call": {"+@all", "-fcall"},
	} {
		t.Run(name, func(t *testing.T) {
			admin, user := redistest.Real(t), strings.ReplaceAll(name, " ", "-")
			require.NoError(t, admin.FunctionFlush(t.Context()).Err())
			require.NoError(t, admin.ACLSetUser(t.Context(), user, append([]string{"on", "nopass", "~*", "&*"}, rules...)...).Err())
			rdb := redis.NewClient(&redis.Options{Addr: admin.Options().Addr, Username: user, Password: "any"})
			t.Cleanup(func() { require.NoError(t, rdb.Close()) })
			commands := watch(rdb)
			r := lua.NewRunner(rdb, rdb)
			for range 3 {
				look(t, r, 1)
			}
			require.Equal(t, 3, commands.count("evalsha"))
			require.Equal(t, 1, commands.count("fcall"))
		})
	}
}
