package jobs_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs/recordtest"
	"onejob/lua"
)

// place is one state of a job, by one way that leads there: the model's record and
// what lies in Redis.
type place struct {
	id      int
	verbs   int // how many commands lead here
	ways    int // of the same length, so far
	model   *record
	now     image
	record  map[string]string
	history []command // those that changed something on the way
}

// search goes through every state that commands lead to.
type search struct {
	t       require.TestingT
	scripts *scripts
	plan    plan
	here    *place // being looked at
	depth   int
	clock   int64

	places  map[string]*place // by canonical form
	levels  [][]*place        // by the number of commands that lead there, to be looked at
	passing [][]int           // by state: those it becomes when a time passes
	after   [][]int           // by state: where each command leads; beyond: out of the bounds
	edges   int
	resent  int
}

const beyond = -1

func newSearch(t require.TestingT, s *scripts, p plan, depth int) *search {
	x := &search{t: t, scripts: s, plan: p, depth: depth, places: map[string]*place{}, levels: make([][]*place, depth+1)}
	s.startWithin, s.hook = p.startWithin, p.hook
	for _, script := range append(slices.Collect(maps.Values(verbScripts)), lua.Mend) {
		require.NoError(t, script.Load(s.ctx, s.rdb).Err())
	}
	g := submitted(t, s) // by a function, if the server has any
	libraries, err := s.rdb.FunctionList(s.ctx, redis.FunctionListQuery{}).Result()
	s.functions = err == nil
	require.Equal(t, s.functions, len(libraries) > 0)
	pipe := s.rdb.Pipeline()
	seen := s.ask(pipe)
	_, _ = pipe.Exec(s.ctx) // what is not there is no error
	x.clock = g.clock
	x.add(&place{model: g.model, now: seen.image(t), record: seen.record.Val()})
	return x
}

func (x *search) run() {
	for verbs := range x.depth {
		for _, p := range x.levels[verbs] {
			x.expand(p)
			p.model, p.now, p.record, p.history = nil, image{}, nil, nil // there are many
		}
	}
}

// Errorf and FailNow make a search what require tells, so that whatever fails says
// where.
func (x *search) Errorf(format string, args ...any) {
	where := ""
	if p := x.here; p != nil {
		where = fmt.Sprintf("\nIn this state:\n%s\nafter %d commands, of which these changed something:\n", p.model.canonical(x.clock), p.verbs)
		for _, c := range p.history {
			where += fmt.Sprintf("%+v\n", c)
		}
	}
	x.t.Errorf(format+"%s", append(args, where)...)
}

func (x *search) FailNow() { x.t.FailNow() }

// add gives a place its number; one that is new is put down to be looked at, and so
// is what it becomes as time passes. Of several ways to one state, none longer than
// the others, one is taken by the dice: another one every time the test is run.
func (x *search) add(p *place) int {
	key := p.model.canonical(x.clock)
	if known := x.places[key]; known != nil {
		p.id, p.ways = known.id, known.ways+1
		if p.verbs == known.verbs && rand.IntN(p.ways+1) == 0 {
			*known = *p
		}
		known.ways = p.ways
		return known.id
	}
	p.id = len(x.places)
	x.places[key] = p
	x.passing, x.after = append(x.passing, nil), append(x.after, nil)
	x.levels[p.verbs] = append(x.levels[p.verbs], p)
	for field, pass := range p.model.passings(x.clock) {
		x.passing[p.id] = append(x.passing[p.id], x.add(p.later(field, pass)))
	}
	return p.id
}

// later is a place after the time in one field has passed, which is an hour ahead or
// more: while the test runs, none does by itself.
func (p *place) later(field string, pass func(*record)) *place {
	later := *p
	later.ways, later.model = 0, p.model.clone()
	later.now.job, later.now.attempts = maps.Clone(p.now.job), maps.Clone(p.now.attempts)
	pass(later.model)
	fields := recordtest.Fields(p.record)
	fields[field] = "1"
	later.record = recordtest.Record(fields)
	if strings.Contains(field, ".") {
		later.now.attempts[field] = "1"
	} else {
		later.now.job[field] = "1"
	}
	return &later
}

// expand sends every command in the state of a place, to the model and to the
// script, and wants the same of both.
func (x *search) expand(p *place) {
	var idle, busy []command // what changes nothing by the model, and what does
	x.here = p
	for _, c := range everyCommand(x.plan) {
		c = complete(c, p.model, fmt.Sprintf("o%d", p.verbs+1))
		if _, wrote := p.model.clone().apply(c, x.clock); wrote {
			busy = append(busy, c)
		} else {
			idle = append(idle, c)
		}
	}
	for range idle {
		x.after[p.id] = append(x.after[p.id], p.id)
	}
	x.edges += len(idle) + len(busy)
	for _, c := range p.history {
		if _, done := p.model.recall(c); done { // it is answered as it was then
			idle = append(idle, c)
			x.resent++
		}
	}
	x.resent += len(busy)
	x.compareIdle(p, idle)
	x.compareBusy(p, busy)
}

// compareIdle sends what must change nothing, all in one record: a field that one of
// them wrote would be seen at the end, for no verb takes anything back.
func (x *search) compareIdle(p *place, commands []command) {
	pipe := x.scripts.rdb.Pipeline()
	x.scripts.restore(pipe, p)
	replies := make([]*redis.Cmd, len(commands))
	for i, c := range commands {
		replies[i] = x.scripts.put(pipe, c)
	}
	seen := x.scripts.ask(pipe)
	mended := x.scripts.askMend(pipe)
	_, _ = pipe.Exec(x.scripts.ctx) // each answer is looked at below
	g := x.gameAt(p, seen)
	found, err := mended.StringSlice()
	require.NoError(x, err)
	require.Equal(x, []string{"mended"}, found, "I11")
	g.model = p.model
	g.compareRecord(x, command{verb: fmt.Sprintf("any of %+v", commands)})
	for i, c := range commands {
		g.model = p.model.clone()
		g.answered(x, c, replies[i], x.clock)
	}
}

// compareBusy sends each of the commands to a record of its own, twice: the second
// is the first one sent again because its reply was lost.
func (x *search) compareBusy(p *place, commands []command) {
	pipe := x.scripts.rdb.Pipeline()
	first, again := make([]*redis.Cmd, len(commands)), make([]*redis.Cmd, len(commands))
	seen := make([]*sight, len(commands))
	for i, c := range commands {
		x.scripts.restore(pipe, p)
		first[i] = x.scripts.put(pipe, c)
		if c.verb != "beat" { // every beat counts
			again[i] = x.scripts.put(pipe, c)
		}
		seen[i] = x.scripts.ask(pipe)
	}
	_, _ = pipe.Exec(x.scripts.ctx) // each answer is looked at below
	for i, c := range commands {
		g := x.gameAt(p, seen[i])
		g.model = p.model.clone()
		at := g.answered(x, c, first[i], x.clock)
		if again[i] != nil {
			g.answered(x, c, again[i], at)
		}
		g.compareRecord(x, c)
		g.invariants(x)
		x.arrive(p, g, c, seen[i])
	}
}

func (x *search) arrive(p *place, g *game, c command, seen *sight) {
	if len(g.model.attempts) > mostAttempts {
		x.after[p.id] = append(x.after[p.id], beyond)
		return
	}
	to := &place{verbs: p.verbs + 1, model: g.model, now: g.now, record: seen.record.Val()}
	to.history = append(slices.Clip(p.history), c)
	x.after[p.id] = append(x.after[p.id], x.add(to))
}

func (x *search) gameAt(p *place, seen *sight) *game {
	g := &game{scripts: x.scripts, before: p.now, now: seen.image(x), clock: seen.clock.Val().UnixMilli(), raced: true}
	x.clock = max(x.clock, g.clock)
	return g
}

// answered applies the command to the model, compares what the script said, and
// returns the time of it.
func (g *game) answered(t require.TestingT, c command, cmd *redis.Cmd, earliest int64) int64 {
	reply, err := cmd.Slice()
	require.NoError(t, err, "%+v", c)
	at := g.timeOf(c, reply[0], earliest)
	answer, wrote := g.model.apply(c, at)
	g.compareReply(t, c, answer, wrote, reply, at)
	return at
}

// count tells how many sequences of commands, with whatever time passes before each,
// the states stand for: up to depth, and those of them that end beyond the bounds.
func (x *search) count() (within, out float64) {
	ways := map[int]float64{0: 1}
	for range x.depth {
		next := map[int]float64{}
		for id, n := range ways {
			for _, later := range x.closure(id) {
				for _, to := range x.after[later] {
					if to == beyond {
						out += n
						continue
					}
					next[to] += n
					within += n
				}
			}
		}
		ways = next
	}
	return within, out
}

// closure is a state and all it becomes as time passes.
func (x *search) closure(id int) []int {
	all := []int{id}
	for i := 0; i < len(all); i++ {
		for _, later := range x.passing[all[i]] {
			if !slices.Contains(all, later) {
				all = append(all, later)
			}
		}
	}
	return all
}
