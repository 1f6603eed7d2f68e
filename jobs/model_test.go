package jobs_test

import (
	"context"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"onejob/lua"
	"onejob/redistest"
)

// TestModel_ScriptsDoWhatTheTableSays sends random sequences of commands to the
// scripts and to a small model of design §2's table, and wants no difference:
// not in the answers, not in a field, an index, a due entry, a line of the trail
// or a time to live.
//
// -rapid.checks says how many sequences; 100 by default. Every release has
// passed 20,000:
//
//	go test ./jobs -run TestModel/^redis$ -rapid.checks=20000 -timeout 30m
func TestModel_ScriptsDoWhatTheTableSays(t *testing.T) {
	t.Parallel()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		rdb := redistest.Real(t)
		play(t, rdb, rdb, 1)
	})
	t.Run("scripts", func(t *testing.T) { // as on a Redis before 7
		t.Parallel()
		rdb := redistest.Real(t)
		play(t, rdb, functionless{rdb}, 1)
	})
	t.Run("miniredis", func(t *testing.T) { // which takes six times as long
		t.Parallel()
		rdb := redistest.Mini(t)
		play(t, rdb, rdb, 3)
	})
}

// functionless is a server without functions.
type functionless struct{ *redis.Client }

func (f functionless) FCall(ctx context.Context, name string, _ []string, _ ...any) *redis.Cmd {
	return f.Do(ctx, "FCALLED", name)
}

// play plays one of so many sequences.
func play(t *testing.T, rdb *redis.Client, caller lua.Caller, of int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	rapid.Check(t, func(t *rapid.T) {
		if rapid.IntRange(1, of).Draw(t, "one of") > 1 { // drawn, so that a failure is found again
			return
		}
		require.NoError(t, rdb.FlushDB(ctx).Err())
		g := begin(ctx, t, rdb, caller)
		t.Repeat(map[string]func(*rapid.T){
			"command": func(t *rapid.T) { g.step(t, drawCommand(t, g.model)) },
			"again":   g.again,
			"time":    g.time,
			"": func(t *rapid.T) {
				g.invariants(t)
				g.scripts.mend(t)
			},
		})
	})
}

// game is one sequence: the scripts, the model, and what was seen of them.
type game struct {
	scripts *scripts
	model   *record
	last    command
	said    string // the answer to it
	before  image  // one step ago
	now     image
	clock   int64
	raced   bool
}

func begin(ctx context.Context, t *rapid.T, rdb *redis.Client, caller lua.Caller) *game {
	keep := int64(rapid.SampledFrom([]int{10, 1000}).Draw(t, "hours a key is kept"))
	s := newScripts(ctx, rdb, 100*hour, keep*hour)
	s.runner = lua.NewRunner(rdb, caller)
	s.startWithin = rapid.SampledFrom([]int64{0, hour}).Draw(t, "start within")
	s.hook = rapid.SampledFrom([]string{"", "https://receiver.example/hook"}).Draw(t, "webhook")
	return submitted(t, s)
}

// submitted is a game whose job has just been submitted.
func submitted(t require.TestingT, s *scripts) *game {
	g := &game{scripts: s}
	g.last = command{verb: "submit", op: "", actor: "dev", fingerprint: "v1:a", sameJob: true}
	reply, err := g.scripts.send(g.last)
	require.NoError(t, err)
	require.Equal(t, "created", reply[0])
	g.now, g.clock = g.scripts.look(t)
	at := atoi(g.now.job["created"])
	g.model = &record{
		id: g.scripts.id, keyHash: "k", owner: ownerHash, state: "queued", version: 1, revision: 1, seq: 1,
		created: at, updated: at, due: map[string]int64{}, keepJob: g.scripts.keepJob, keepKey: g.scripts.keepKey,
		rest: map[string]string{
			"fingerprint": "v1:a", "owner": "dev", "owner_hash": ownerHash, "key": "k", "key_hash": "k", "route": "print",
			"provider": "inkjet", "input": `{"page":1}`,
		},
		attempts: []*attempt{{state: "starting", provider: "inkjet", created: at, notBefore: at, rest: map[string]string{}}},
		actor:    "dev",
	}
	if hook := g.scripts.hook; hook != "" {
		g.model.rest["webhook_url"] = hook
	}
	if within := g.scripts.startWithin; within > 0 {
		g.model.rest["start_by"] = itoa(at + within)
		g.model.due[g.model.entry("start", 1)] = at + within + 1
	}
	g.model.due[g.model.entry("wake", 1)] = at + 5000
	g.model.event("submit", 1, "", "starting", "")
	g.before = g.now
	g.compareRecord(t, g.last)
	return g
}

// step sends one command to both and compares.
func (g *game) step(t *rapid.T, c command) {
	g.raced = g.raced || c.verb == "race"
	reply, err := g.scripts.send(c)
	require.NoError(t, err)
	earliest := g.clock
	g.before = g.now
	g.now, g.clock = g.scripts.look(t)
	at := g.timeOf(c, reply[0], earliest)
	require.GreaterOrEqual(t, at, earliest)
	require.LessOrEqual(t, at, g.clock)
	answer, wrote := g.model.apply(c, at)
	g.compareRecord(t, c)
	g.compareReply(t, c, answer, wrote, reply, at)
	if answer.word == "late" && wrote { // I6
		require.NotEmpty(t, g.now.attempts[itoa(int64(c.attempt))+".late_sha256"])
		require.NotEmpty(t, g.now.attempts[itoa(int64(c.attempt))+".late_reason"])
	}
	g.last, g.said = c, answer.word
}

// timeOf is the script's own time, as far as it left it in the record.
func (g *game) timeOf(c command, answer any, earliest int64) int64 {
	if answer == "too_early" { // it may be time by now
		return earliest
	}
	if answer == "beating" {
		return atoi(g.now.attempts[itoa(int64(c.attempt))+".lease"]) - c.lease
	}
	if g.now.job["revision"] != g.before.job["revision"] {
		return atoi(g.now.job["updated"])
	}
	return g.clock
}

// compareRecord compares everything. miniredis keeps what is left to live, not
// its end, so that one can be off by what its goroutine waits.
func (g *game) compareRecord(t require.TestingT, c command) {
	want := g.model.image()
	for i, at := range want.expiries {
		require.InDelta(t, at, g.now.expiries[i], 1000, "time to live of key %d after %+v", i, c)
		want.expiries[i] = g.now.expiries[i]
	}
	if !reflect.DeepEqual(want, g.now) { // Equal takes its time, and is for telling the difference
		require.Equal(t, want, g.now, "the record after %+v", c)
	}
}

func (g *game) compareReply(t require.TestingT, c command, answer said, wrote bool, reply []any, now int64) {
	m := g.model
	want := []any{answer.word, itoa(m.seq), itoa(m.version), m.state, itoa(m.revision), answer.detail, number(answer.opened), "", "", ""}
	if c.verb == "submit" {
		want = []any{answer.word, itoa(m.seq), answer.detail}
	}
	if answer.opened > 0 {
		opened := m.at(answer.opened)
		want[7], want[8], want[9] = opened.provider, itoa(max(0, opened.notBefore-now)), ownerHash
		if !wrote { // its own time is not known to the millisecond
			require.LessOrEqual(t, atoi(reply[8].(string)), max(0, opened.notBefore-atoi(g.before.job["updated"])))
			want[8] = reply[8]
		}
	}
	switch answer.word {
	case "too_early":
		if c.verb == "claim" {
			require.Positive(t, atoi(reply[5].(string)))
		}
		want[5] = reply[5]
	case "claimed":
		a := m.at(c.attempt)
		try := int64(0)
		for _, other := range m.attempts[:c.attempt] {
			if other.provider == a.provider {
				try++
			}
		}
		require.GreaterOrEqual(t, atoi(reply[16].(string)), int64(0)) // a test moves not_before about
		want = append(want, itoa(a.fence), "print", "dev", itoa(try), `{"page":1}`, "", reply[16], "")
	case "attempt_open", "attempt_terminal", "not_unknown":
		a := m.at(answer.blocking)
		since := a.unknownAt
		if since == 0 {
			since = a.notBefore
		}
		want = append(want, number(answer.blocking), a.state, a.rest["reason"], itoa(since), itoa(a.deadline))
	case "created", "exists":
		require.Len(t, reply, len(want)+1)
		reply = reply[:len(want)] // what follows is the record, or the time of it
	}
	require.Equal(t, want, reply, "the answer to %+v", c)
}

// again sends the latest command once more, as the client library does when a
// reply was lost: nothing may change.
func (g *game) again(t *rapid.T) {
	if g.last.verb == "" {
		return
	}
	before, said := g.now, g.said
	g.step(t, g.last)
	if said == "too_early" { // by now it may be time
		return
	}
	if g.last.verb != "beat" {
		before.expiries, g.before.expiries = g.now.expiries, g.now.expiries // compared before
		require.Equal(t, before, g.now, "sent again: %+v", g.last)
	}
}

// time lets something come to pass.
func (g *game) time(t *rapid.T) {
	n := drawAttempt(t, g.model)
	a := g.model.at(n)
	if a == nil {
		return
	}
	field := func(name string) string { return itoa(int64(n)) + "." + name }
	switch what := rapid.SampledFrom([]string{"lease", "deadline", "not_before", "not_before", "start_by"}).Draw(t, "what"); {
	case what == "lease" && a.lease > 0:
		a.lease = 1
		g.scripts.set(t, field("lease"), 1)
	case what == "deadline" && a.deadline > 0:
		a.deadline = 1
		g.scripts.set(t, field("deadline"), 1)
	case what == "not_before" && a.state == "starting":
		a.notBefore = 1
		g.scripts.set(t, field("not_before"), 1)
	case what == "start_by" && g.model.rest[what] != "":
		g.model.rest["start_by"] = "1"
		g.scripts.set(t, "start_by", 1)
	default:
		return
	}
	g.last = command{}
	g.now, g.clock = g.scripts.look(t)
	g.before = g.now
}

// invariants are those of design §2, looked up in what is stored and not in the
// model.
func (g *game) invariants(t require.TestingT) {
	state, winner := g.now.job["state"], g.now.job["completed_by"]
	open, succeeded := 0, 0
	for n := 1; n <= int(atoi(g.now.job["attempts"])); n++ {
		name := itoa(int64(n)) + ".state"
		if isOpen(g.now.attempts[name]) {
			open++
		}
		if g.now.attempts[name] == "succeeded" {
			succeeded++
			require.Equal(t, itoa(int64(n)), winner, "I3")
		}
		if was := g.before.attempts[name]; was != "" && !isOpen(was) {
			require.Equal(t, was, g.now.attempts[name], "I5")
		}
	}
	require.Equal(t, state == "succeeded", succeeded == 1, "I3")
	require.Equal(t, state == "succeeded", winner != "", "I3")
	require.LessOrEqual(t, succeeded, 1, "I3")
	if g.before.job["completed_by"] != "" {
		require.Equal(t, g.before.job["result"], g.now.job["result"], "I3")
	}
	if !g.raced {
		require.LessOrEqual(t, open, 1, "I4")
	}
	if isFinal(g.before.job["state"]) {
		require.Equal(t, settled(g.before.job), settled(g.now.job), "I5")
	}
	require.GreaterOrEqual(t, atoi(g.now.job["version"]), atoi(g.before.job["version"]), "I9")
	require.Equal(t, isEnded(state), open == 0, "I10")
	for i, at := range g.now.expiries {
		require.Equal(t, isEnded(state), at > 0, "time to live of key %d", i)
	}
	require.GreaterOrEqual(t, g.now.expiries[1]+1000, g.now.expiries[0], "a key outlives its job")
}

// settled is what never changes of a final job: all but the books about it.
func settled(job map[string]string) map[string]string {
	kept := maps.Clone(job)
	for field := range job {
		if field == "revision" || field == "updated" || field == "events" || strings.HasPrefix(field, "op") {
			delete(kept, field)
		}
	}
	return kept
}
