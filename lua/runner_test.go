package lua_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
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
	answer, err := ask(t.Context(), r, partition)
	assert.NoError(t, err)
	if assert.NotEmpty(t, answer) {
		assert.Equal(t, "not_found", answer[0])
	}
}

func ask(ctx context.Context, r *lua.Runner, partition int) ([]any, error) {
	prefix := fmt.Sprintf("oj:{%d}:", partition)
	keys := []string{prefix + "job:none", prefix + "due", prefix + "seq"}
	return r.Run(ctx, lua.Look, keys, "op", "actor", 1, 1, 1, "x").Slice()
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

// TestRunner_EveryMaster: of a Cluster each of three is given the functions when one misses
// them.
func TestRunner_EveryMaster(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t)
	r := lua.NewRunner(cluster, cluster)
	commands := watch(cluster)
	for partition := range 64 {
		look(t, r, partition)
	}
	require.Zero(t, commands.count("evalsha"))
	require.LessOrEqual(t, commands.count("fcall"), 64+3)
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

// TestRunner_ErrorsAreNotAskedAgain: what a function says is its answer, an error too; it
// does not run again as a script.
func TestRunner_ErrorsAreNotAskedAgain(t *testing.T) { //nolint:paralleltest // others share the server
	rdb := redistest.Real(t)
	r := lua.NewRunner(rdb, rdb)
	look(t, r, 1)
	commands := watch(rdb)
	require.NoError(t, rdb.HSet(t.Context(), "oj:{1}:job:none", "small", "nonsense").Err())
	_, err := ask(t.Context(), r, 1)
	require.ErrorContains(t, err, "cannot be read")
	require.NoError(t, rdb.Del(t.Context(), "oj:{1}:job:none").Err())
	require.NoError(t, rdb.Set(t.Context(), "oj:{1}:job:none", "a string", 0).Err())
	_, err = ask(t.Context(), r, 1)
	require.ErrorContains(t, err, "WRONGTYPE")
	require.NoError(t, rdb.ACLSetUser(t.Context(), "keyless", "on", "nopass", "~other", "&*", "+@all").Err())
	keyless := redis.NewClient(&redis.Options{Addr: rdb.Options().Addr, Username: "keyless", Password: "any"})
	t.Cleanup(func() { require.NoError(t, keyless.Close()) })
	without := watch(keyless)
	_, err = ask(t.Context(), lua.NewRunner(keyless, keyless), 1)
	require.ErrorContains(t, err, "NOPERM")
	require.Zero(t, commands.count("evalsha")+without.count("evalsha"))
}

// unable is a server that answers FCALL in its own words.
type unable struct {
	*redis.Client
	says  string
	asked int
}

func (u *unable) FCall(ctx context.Context, _ string, _ []string, _ ...any) *redis.Cmd {
	u.asked++
	cmd := redis.NewCmd(ctx)
	cmd.SetErr(proto(u.says))
	return cmd
}

type proto string

func (p proto) Error() string { return string(p) }
func (p proto) RedisError()   {}

// TestRunner_Refusals: whatever words a server or a proxy has for "no functions here", verbs
// run as scripts; what says that it is not well is its answer.
func TestRunner_Refusals(t *testing.T) {
	t.Parallel()
	for says, falls := range map[string]bool{
		"ERR unknown command 'FCALL', with args": true, "ERR Command is not available: 'FCALL'": true,
		"NOPERM this user has no permissions to run the 'fcall' command": true,
		"NOPERM No permissions to access a key":                          false, "OOM command not allowed": false,
		"READONLY Can not run script": false, "LOADING Redis is loading": false,
		"ERR oops script: onejob_look_0, on @user_function:1.": false,
	} {
		u := &unable{Client: redistest.Mini(t), says: says}
		r := lua.NewRunner(u.Client, u)
		for range 2 {
			answer, err := ask(t.Context(), r, 1)
			if falls {
				require.NoError(t, err, says)
				require.Equal(t, "not_found", answer[0])
			} else {
				require.EqualError(t, err, says)
			}
		}
		if falls {
			require.Equal(t, 1, u.asked, "asked again at once: %s", says)
		}
	}
}

// missing is a server that never has the function, whatever it was given.
type missing struct{ *redis.Client }

func (m missing) FCall(ctx context.Context, _ string, _ []string, _ ...any) *redis.Cmd {
	cmd := redis.NewCmd(ctx)
	cmd.SetErr(proto("ERR Function not found"))
	return cmd
}

// TestRunner_StillMissing: a server that does not know a function though one was given it
// (a slot on its way to another) is not given it again and again.
func TestRunner_StillMissing(t *testing.T) {
	t.Parallel()
	rdb := redistest.Real(t)
	commands := watch(rdb)
	r := lua.NewRunner(rdb, missing{rdb})
	for range 5 {
		look(t, r, 1)
	}
	require.Equal(t, 1, commands.count("function"))
	require.GreaterOrEqual(t, commands.count("evalsha"), 5)
}

// TestRunner_EndOfCaller: who does not want to wait any more does not wait for the library.
func TestRunner_EndOfCaller(t *testing.T) {
	t.Parallel()
	rdb := redistest.Real(t)
	ctx, cancel := context.WithCancel(t.Context())
	held := make(chan struct{})
	rdb.AddHook(holder{held: held, reached: cancel})
	_, err := ask(ctx, lua.NewRunner(rdb, missing{rdb}), 1)
	require.ErrorIs(t, err, context.Canceled)
	close(held)
}

// holder holds FUNCTION back.
type holder struct {
	held    chan struct{}
	reached func()
}

func (h holder) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h holder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "function" {
			h.reached()
			<-h.held
		}
		return next(ctx, cmd)
	}
}

func (h holder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
