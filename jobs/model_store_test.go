package jobs_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/jobs/recordtest"
	"onejob/lua"
)

// modelPolicy is a route's plan as lua/next.lua reads it.
type modelPolicy struct {
	MaxAttempts int                   `json:"max_attempts"`
	Tries       int                   `json:"tries"`
	Initial     int64                 `json:"backoff_initial"`
	Max         int64                 `json:"backoff_max"`
	Failover    string                `json:"failover"`
	Providers   []jobs.PolicyProvider `json:"providers"`
}

// scripts asks the real scripts about one job, argument by argument as their
// headers have it, with nothing of the store in between.
type scripts struct {
	ctx             context.Context
	rdb             *redis.Client
	runner          *lua.Runner
	functions       bool // run by put
	prefix, id, key string
	keepJob         int64
	keepKey         int64
	startWithin     int64
	hook            string // webhook_url; empty: none
}

const ownerHash = "0123456789abcdef"

func newScripts(ctx context.Context, rdb *redis.Client, keepJob, keepKey int64) *scripts {
	id := jobs.NewID("dev", "k")
	return &scripts{
		ctx: ctx, rdb: rdb, runner: lua.NewRunner(rdb, rdb), prefix: prefixOf(id), id: id, key: prefixOf(id) + "key:k", keepJob: keepJob, keepKey: keepKey,
	}
}

// prefixOf is the prefix of the keys of a job's partition, which its id carries.
func prefixOf(id string) string {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	high, low := strings.IndexByte(digits, id[len(id)-2]), strings.IndexByte(digits, id[len(id)-1])
	return fmt.Sprintf("oj:{%d}:", high*32+low)
}

func (s *scripts) keys() []string {
	return []string{s.prefix + "job:" + s.id, s.prefix + "due", s.prefix + "seq"}
}

var verbScripts = map[string]*redis.Script{
	"submit": lua.Submit, "claim": lua.Claim, "beat": lua.Beat, "accept": lua.Accept, "suspect": lua.Suspect,
	"finalize": lua.Finalize, "fail": lua.Fail, "open": lua.Open, "resolve": lua.Resolve, "cancel": lua.Cancel, "hold": lua.Hold,
	"race": lua.Race, "look": lua.Look, "note": lua.Note, "expire_start": lua.ExpireStart,
}

// send sends a command as the store does: to a function, where the server has them. What
// a function leaves behind must not matter to the next, so another comes between.
func (s *scripts) send(c command) ([]any, error) {
	if err := s.between(); err != nil {
		return nil, err
	}
	keys, args := s.call(c)
	return s.runner.Run(s.ctx, verbScripts[c.verb], keys, args...).Slice()
}

// between claims an attempt of another job in another partition, and then asks about a
// record that is newer than this build.
func (s *scripts) between() error {
	const prefix = "oj:{between}:"
	keys := []string{prefix + "job:j", prefix + "due", prefix + "seq"}
	for _, run := range []struct {
		verb string
		keys []string
		args []any
		want string
	}{
		{"submit", append(slices.Clone(keys), prefix+"key:k"), s.args(command{verb: "submit", actor: "other", fingerprint: "v1:z"}), "created"},
		{"claim", keys, append([]any{"op", "worker", hour, hour}, s.args(command{
			verb: "claim", attempt: 1, token: "t", deadline: hour, lease: hour, provider: "inkjet",
		})...), "claimed"},
		{"look", append([]string{prefix + "job:newer"}, keys[1:]...), []any{"op", "worker", hour, hour, 1, "said"}, "newer_schema"},
	} {
		if err := s.rdb.HSet(s.ctx, prefix+"job:newer", "v", "99").Err(); err != nil {
			return fmt.Errorf("writing a newer record: %w", err)
		}
		answer, err := s.runner.Run(s.ctx, verbScripts[run.verb], run.keys, run.args...).Slice()
		if err != nil {
			return fmt.Errorf("running %s in between: %w", run.verb, err)
		}
		if answer[0] != run.want {
			return fmt.Errorf("%s in between answered %v", run.verb, answer)
		}
	}
	left, err := s.rdb.Keys(s.ctx, prefix+"*").Result()
	if err == nil {
		err = s.rdb.Del(s.ctx, left...).Err()
	}
	return err
}

// call is a command as its script takes it: KEYS and ARGV.
func (s *scripts) call(c command) (keys []string, args []any) {
	keys = s.keys()
	if c.verb == "submit" {
		if !c.sameJob {
			keys[0] = s.prefix + "job:" + jobs.NewID("dev", "k")
		}
		return append(keys, s.key), s.args(c)
	}
	return keys, append([]any{c.op, c.actor, s.keepJob, s.keepKey}, s.args(c)...)
}

func (s *scripts) args(c command) []any {
	policy, _ := json.Marshal(c.policy)
	switch c.verb {
	case "submit":
		return []any{c.actor, c.fingerprint, "dev", ownerHash, "k", "print", "inkjet", `{"page":1}`, "", "", s.hook, some(s.startWithin), 5000}
	case "claim":
		return []any{c.attempt, c.token, c.deadline, c.lease, c.provider}
	case "beat":
		return []any{c.attempt, c.token, c.lease, ""}
	case "accept":
		return []any{c.attempt, c.token, c.message}
	case "suspect":
		return []any{c.attempt, c.token, c.reason, "", "", "", some(c.lookupIn), some(c.settleIn), some(c.raceIn)}
	case "finalize":
		return []any{c.attempt, some(c.fence), c.result, hash(c.result), len(c.result), "done", "", "", ""}
	case "fail":
		retryable := 0
		if c.retryable {
			retryable = 1
		}
		return []any{
			c.attempt, some(c.fence), c.reason, c.message, retryable, c.retryAfter, "none", "", "",
			policy, hash(c.message), len(c.message),
		}
	case "open":
		return []any{some(c.expected), c.provider, c.reason, c.margin}
	case "race":
		return []any{c.attempt, policy}
	case "look":
		return []any{c.attempt, c.message}
	case "note":
		return []any{c.attempt, c.message, c.reason}
	case "expire_start":
		return []any{c.attempt}
	case "resolve":
		return []any{
			c.attempt, c.outcome, some(c.expected), c.reason, c.result, hash(c.result), len(c.result), c.then, policy,
		}
	case "cancel":
		return []any{some(c.expected), c.reason}
	}
	return []any{c.attempt, c.reason} // hold
}

// some writes a number for a script; 0 is none.
func some(n int64) string {
	if n == 0 {
		return ""
	}
	return itoa(n)
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// look reads all there is of the job, and the store's clock.
func (s *scripts) look(t require.TestingT) (image, int64) {
	pipe := s.rdb.Pipeline()
	seen := s.ask(pipe)
	if _, err := pipe.Exec(s.ctx); !errors.Is(err, redis.Nil) { // what is not there is no error
		require.NoError(t, err)
	}
	return seen.image(t), seen.clock.Val().UnixMilli()
}

// sight is all there is of a job, as Redis answers.
type sight struct {
	id           string
	record       *redis.MapStringStringCmd
	due, pending *redis.ZSliceCmd
	seq, open    *redis.StringCmd
	states       []*redis.ZSliceCmd // in the order of jobs.States
	owner        *redis.FloatCmd
	expiries     []*redis.DurationCmd // of job, key
	clock        *redis.TimeCmd
}

// ask puts the questions of a look into a pipeline.
func (s *scripts) ask(pipe redis.Pipeliner) *sight {
	keys := s.keys()
	seen := &sight{
		id: s.id, record: pipe.HGetAll(s.ctx, keys[0]),
		due: pipe.ZRangeWithScores(s.ctx, keys[1], 0, -1), seq: pipe.Get(s.ctx, keys[2]),
		pending: pipe.ZRangeWithScores(s.ctx, s.prefix+"webhooks", 0, -1), owner: pipe.ZScore(s.ctx, s.prefix+"owner:"+ownerHash, s.id), open: pipe.HGet(s.ctx, s.prefix+"open", ownerHash),
	}
	for _, state := range jobs.States {
		seen.states = append(seen.states, pipe.ZRangeWithScores(s.ctx, s.prefix+"state:"+string(state), 0, -1))
	}
	for _, key := range []string{keys[0], s.key} {
		seen.expiries = append(seen.expiries, pipe.PExpireTime(s.ctx, key))
	}
	seen.clock = pipe.Time(s.ctx)
	return seen
}

func (seen *sight) image(t require.TestingT) image {
	im := image{
		job: map[string]string{}, attempts: map[string]string{}, due: map[string]int64{}, pending: map[string]int64{},
		states: map[string]int64{}, owner: int64(seen.owner.Val()),
	}
	im.put(t, seen.record.Val())
	for _, z := range seen.due.Val() {
		im.due[z.Member.(string)] = int64(z.Score)
	}
	for _, z := range seen.pending.Val() {
		im.pending[z.Member.(string)] = int64(z.Score)
	}
	for i, state := range jobs.States {
		for _, z := range seen.states[i].Val() {
			require.Equal(t, seen.id, z.Member)
			im.states[string(state)] = int64(z.Score)
		}
	}
	for i, e := range seen.expiries {
		im.expiries[i] = -1
		if at := e.Val(); at > 0 {
			im.expiries[i] = at.Milliseconds()
		}
	}
	im.takeTrail(t)
	im.seq, im.open = atoi(seen.seq.Val()), atoi(seen.open.Val())
	return im
}

// put sorts the fields of a record.
func (im image) put(t require.TestingT, record map[string]string) {
	fields := recordtest.Fields(record)
	require.Equal(t, record, recordtest.Record(fields), "a record is written in one way only")
	for name, value := range fields {
		if strings.Contains(name, ".") {
			im.attempts[name] = value
		} else {
			im.job[name] = value
		}
	}
}

// takeTrail turns the lines of the trail into the model's.
func (im *image) takeTrail(t require.TestingT) {
	for k := int64(1); k <= atoi(im.job["events"]); k++ {
		name := "e" + itoa(k)
		require.Contains(t, im.job, name)
		p := strings.SplitN(im.job[name], "\t", 7)
		delete(im.job, name)
		im.trail = append(im.trail, fmt.Sprintf("%s by %s: attempt %s, %s to %s (%s)", p[2], p[1], p[3], p[4], p[5], p[6]))
	}
}

// mend is the store's own check of what must agree with the record (I11).
func (s *scripts) mend(t require.TestingT) {
	found, err := lua.Mend.Run(s.ctx, s.rdb, s.keys(), "", "fsck", s.keepJob, s.keepKey, 0).StringSlice()
	require.NoError(t, err)
	require.Equal(t, []string{"mended"}, found, "I11")
}

// set writes one field of an attempt by hand: time passing.
func (s *scripts) set(t require.TestingT, field string, value int64) {
	require.NoError(t, recordtest.Set(s.ctx, s.rdb, s.keys()[0], map[string]any{field: value}))
}
