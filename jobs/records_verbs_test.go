package jobs_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
)

// acts is all that can be done with a stored job. Each tells what it was answered.
var acts = map[string]func(s *scribe) (any, error){
	"get":        func(s *scribe) (any, error) { return s.Get(s.ctx, s.id) },
	"list owner": func(s *scribe) (any, error) { return s.List(s.ctx, jobs.Query{Owner: "dev"}) },
	"list state": func(s *scribe) (any, error) { return s.List(s.ctx, jobs.Query{State: s.state()}) },
	"list key":   func(s *scribe) (any, error) { return s.List(s.ctx, jobs.Query{Owner: "dev", Key: s.name}) },
	"events":     func(s *scribe) (any, error) { return s.Events(s.ctx, s.id, "", 100) },
	"mend":       func(s *scribe) (any, error) { return s.Mend(s.ctx, s.id, false) },
	"census":     func(s *scribe) (any, error) { return s.Census(s.ctx) },
	"open jobs":  func(s *scribe) (any, error) { return s.OpenJobs(s.ctx, "dev") },
	"recount": func(s *scribe) (any, error) {
		var wrong []jobs.Miscount
		err := s.Recount(s.ctx, false, func(m jobs.Miscount) error { wrong = append(wrong, m); return nil })
		return wrong, err
	},
	"submit again": func(s *scribe) (any, error) { return s.Submit(s.ctx, submission(s.name, `{"page":1}`)) },
	"submit other": func(s *scribe) (any, error) { return s.Submit(s.ctx, submission(s.name, `{"page":2}`)) },
	"claim": func(s *scribe) (any, error) {
		c, err := s.Claim(s.ctx, jobs.ClaimRequest{JobID: s.id, Attempt: s.last(), Token: "NEW", Provider: s.provider(), Deadline: time.Minute, Actor: "worker"})
		if c != nil {
			c.Waited = 0
		}
		return c, err
	},
	"claim again": func(s *scribe) (any, error) {
		c, err := s.Claim(s.ctx, jobs.ClaimRequest{JobID: s.id, Attempt: 1, Token: token(1), Provider: "inkjet", Deadline: time.Minute, Actor: "worker"})
		if c != nil {
			c.Waited = 0
		}
		return c, err
	},
	"beat":           func(s *scribe) (any, error) { return s.Beat(s.ctx, s.held(1), time.Second) },
	"accept":         func(s *scribe) (any, error) { return nil, s.Accept(s.ctx, s.held(1), "handle-2", "worker") },
	"suspect":        func(s *scribe) (any, error) { return s.Suspect(s.ctx, s.doubt()) },
	"finalize first": func(s *scribe) (any, error) { return s.report(1) },
	"finalize last":  func(s *scribe) (any, error) { return s.report(s.last()) },
	"finalize sent again": func(s *scribe) (any, error) {
		return s.Finalize(s.ctx, s.ending(s.held(1), "FINALIZE"), json.RawMessage(`{"by":1}`), nil)
	},
	"fail": func(s *scribe) (any, error) {
		return s.Fail(s.ctx, s.ending(s.held(s.last()), "NO"), jobs.Failure{Reason: "busy", Message: "no", Retryable: true, Policy: both(4, 2)})
	},
	"open":             func(s *scribe) (any, error) { return s.Open(s.ctx, jobs.OpenRequest{Decision: s.decides(0)}) },
	"cancel":           func(s *scribe) (any, error) { return s.CancelJob(s.ctx, s.decides(0)) },
	"resolve done":     func(s *scribe) (any, error) { return s.settle("succeeded", "") },
	"resolve failed":   func(s *scribe) (any, error) { return s.settle("failed", "continue") },
	"cancel attempt":   func(s *scribe) (any, error) { return s.settle("cancelled", "") },
	"race":             func(s *scribe) (any, error) { return s.raceOn() },
	"look":             func(s *scribe) (any, error) { return nil, s.Look(s.ctx, s.id, 1, "running") },
	"note":             func(s *scribe) (any, error) { return nil, s.Note(s.ctx, s.id, 1, "note", "why") },
	"hold":             func(s *scribe) (any, error) { return nil, s.Hold(s.ctx, s.id, s.last(), "archived") },
	"expire start":     func(s *scribe) (any, error) { return nil, s.ExpireStart(s.ctx, s.id, s.last()) },
	"take webhook":     func(s *scribe) (any, error) { return s.TakeWebhook(s.ctx, s.id, 1, "HOOK2", time.Minute) },
	"report webhook":   func(s *scribe) (any, error) { return s.ReportWebhook(s.ctx, s.tried()) },
	"redeliver":        func(s *scribe) (any, error) { return s.Redeliver(s.ctx, s.decides(0), 1) },
	"pending webhooks": func(s *scribe) (any, error) { return s.PendingWebhooks(s.ctx) },
}

// state, last and provider are the job's as they were before it was acted on.
func (s *scribe) state() jobs.State {
	if job, err := s.Get(s.ctx, s.id); err == nil {
		return job.State
	}
	return jobs.Queued
}

func (s *scribe) last() int {
	if job, err := s.Get(s.ctx, s.id); err == nil {
		return job.Attempts[len(job.Attempts)-1].Number
	}
	return 1
}

func (s *scribe) provider() string {
	if job, err := s.Get(s.ctx, s.id); err == nil {
		return job.Provider
	}
	return "inkjet"
}

// held is the claim of an attempt, as its worker holds it.
func (s *scribe) held(attempt int) *jobs.Claim {
	c := &jobs.Claim{JobID: s.id, Attempt: attempt, Token: token(attempt), Fence: 1}
	if job, err := s.Get(s.ctx, s.id); err == nil && job.Attempt(attempt) != nil {
		c.Fence = job.Attempt(attempt).Fence
	}
	return c
}

func (s *scribe) decides(attempt int) jobs.Decision {
	return jobs.Decision{JobID: s.id, Attempt: attempt, Actor: "operator:2", Reason: "said so", Op: "ACT"}
}

func (s *scribe) doubt() jobs.Suspicion {
	return jobs.Suspicion{JobID: s.id, Attempt: s.last(), Token: token(s.last()), Reason: "reset", Actor: "worker", Op: "ACT"}
}

func (s *scribe) report(attempt int) (jobs.Reported, error) {
	return s.Finalize(s.ctx, s.ending(s.held(attempt), "REPORT"), json.RawMessage(`{"by":"report"}`), nil)
}

func (s *scribe) settle(outcome, then string) (jobs.Changed, error) {
	return s.Resolve(s.ctx, jobs.Resolution{
		Decision: s.decides(1), Outcome: outcome, Result: json.RawMessage(`{"by":"operator"}`), Then: then, Policy: both(4, 1),
	})
}

func (s *scribe) raceOn() (any, error) {
	wakes, why, err := s.Race(s.ctx, s.id, s.last(), both(4, 1))
	return []any{wakes, why}, err
}

func (s *scribe) tried() jobs.WebhookTried {
	return jobs.WebhookTried{JobID: s.id, Number: 1, Token: "HOOK", Status: 503, Error: "it answered 503"}
}

// Times differ from run to run; what is left of an answer does not.
var (
	anyTime = regexp.MustCompile(`"?\d{4}-\d\d-\d\dT[\d:.]+Z"?|\b\d{13}\b|-h\d+-[0-9a-z]+`)
	anyWait = regexp.MustCompile(`"(In|Next|Lag)": \d+`)
)

// told is all that is to be seen of an act: its answer, and the job after it by every
// way of looking at one.
func (s *scribe) told(act string) string {
	answer, err := acts[act](s)
	var refusal *jobs.Refusal
	var notClaimed *jobs.NotClaimed
	switch {
	case errors.As(err, &refusal):
		answer = map[string]any{"refusal": refusal}
	case errors.As(err, &notClaimed):
		answer = map[string]any{"not claimed": notClaimed.Why}
	default:
		require.NoError(s.t, err, act)
	}
	job, err := s.Get(s.ctx, s.id)
	require.NoError(s.t, err)
	trail, err := s.Events(s.ctx, s.id, "", 100)
	require.NoError(s.t, err)
	wrong, err := s.Mend(s.ctx, s.id, false)
	require.NoError(s.t, err)
	require.Empty(s.t, wrong, act)
	due, err := s.rdb.ZRange(s.ctx, prefixOf(s.id)+"due", 0, -1).Result()
	require.NoError(s.t, err)
	slices.Sort(due)
	b, err := json.MarshalIndent([]any{answer, job, job.Revision, trail, due}, "", " ")
	require.NoError(s.t, err)
	return anyWait.ReplaceAllString(anyTime.ReplaceAllString(string(b), "T"), `"$1": W`)
}

// TestRecords_OfEverySchemaAnswerAsFreshOnes: a job that was stored with a schema this
// build reads, in any state, is read, listed and acted on as one that was written now:
// every act on every fixture has the same answer and the same job after it.
func TestRecords_OfEverySchemaAnswerAsFreshOnes(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for _, name := range slices.Sorted(maps.Keys(recipes)) {
			for schema := 1; schema <= jobs.Schema; schema++ {
				f := readFixture(t, schema, name)
				for _, act := range actsFor(t) {
					require.NoError(t, rdb.FlushDB(t.Context()).Err())
					fresh := cook(t, rdb, jobs.Schema, name, func() {}).told(act)
					require.NoError(t, rdb.FlushDB(t.Context()).Err())
					f.load(t, rdb)
					loaded := &scribe{bundle: setup(t, rdb), name: name, id: f.ID}
					require.Equal(t, fresh, loaded.told(act), "%s, stored with schema %d: %s", name, schema, act)
				}
			}
		}
	})
}

// actsFor are all acts, and on miniredis, which is slow, a few of each kind.
func actsFor(t *testing.T) []string {
	t.Helper()
	if strings.HasSuffix(t.Name(), "miniredis") {
		return []string{"claim", "finalize last", "get", "list owner", "list state", "resolve failed", "take webhook"}
	}
	return slices.Sorted(maps.Keys(acts))
}

// TestRecords_OfANewerSchemaAreLeftAlone: nothing that can be done with a job changes
// one that a newer onejob wrote, and whoever asks is told so. What is due of it stays
// due.
func TestRecords_OfANewerSchemaAreLeftAlone(t *testing.T) {
	t.Parallel()
	// Reading what is there, without a look into the record.
	blind := []string{"events", "list owner", "list state", "list key", "census", "open jobs", "recount", "pending webhooks", "submit other"}
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for name, f := range newerFixtures(t) {
			f.load(t, rdb)
			s := &scribe{bundle: setup(t, rdb), name: name, id: f.ID}
			before := dump(t, rdb)
			for _, act := range slices.Sorted(maps.Keys(acts)) {
				answer, err := acts[act](s)
				if !slices.Contains(blind, act) {
					require.True(t, newer(err), "%s, %s: %v", name, act, err)
				}
				if page, ok := answer.(jobs.Page); ok && act == "list owner" {
					require.Empty(t, page.Jobs)
					require.Equal(t, 1, page.Newer)
				}
				require.Equal(t, withoutTTL(before), withoutTTL(dump(t, rdb)), "%s, %s", name, act)
			}
			s.leavesDue(f)
			require.NoError(t, rdb.FlushDB(t.Context()).Err())
		}
	})
}

// leavesDue has everything due and taken: nothing is handed out and nothing dropped.
func (s *scribe) leavesDue(f fixture) {
	s.t.Helper()
	set := prefixOf(f.ID) + "due"
	due, err := s.rdb.ZRange(s.ctx, set, 0, -1).Result()
	s.must(err)
	for _, member := range due {
		s.must(s.rdb.ZAdd(s.ctx, set, redis.Z{Score: 1, Member: member}).Err())
	}
	p, err := strconv.Atoi(strings.Trim(prefixOf(f.ID), "oj:{}"))
	s.must(err)
	taken, err := s.Take(s.ctx, p)
	s.must(err)
	if len(due) > 0 {
		require.Equal(s.t, []jobs.Due{{Kind: jobs.DueNewer, Tries: len(due)}}, taken)
	}
	again, err := s.Take(s.ctx, p)
	s.must(err)
	require.Empty(s.t, again, "moved on, so as not to keep back what is behind them")
	left, err := s.rdb.ZRange(s.ctx, set, 0, -1).Result()
	s.must(err)
	require.ElementsMatch(s.t, due, left)
}

// newerFixtures are the records of the next schema: those of the build that has it,
// or, in that build, such as nobody has made yet.
func newerFixtures(t *testing.T) map[string]fixture {
	t.Helper()
	found := map[string]fixture{}
	paths, err := filepath.Glob(fixturePath(jobs.Schema+1, "*"))
	require.NoError(t, err)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		found[name] = readFixture(t, jobs.Schema+1, name)
	}
	if len(found) == 0 {
		for name := range recipes {
			f := readFixture(t, jobs.Schema, name)
			f.Keys[prefixOf(f.ID)+"job:"+f.ID].Hash["v"] = strconv.Itoa(jobs.Schema + 1)
			found[name] = f
		}
	}
	return found
}

func withoutTTL(keys map[string]stored) map[string]stored {
	for name, s := range keys {
		s.TTL = min(s.TTL, 1)
		keys[name] = s
	}
	return keys
}

// TestRecords_APlainOneBearsNoSchema: the first costs nothing.
func TestRecords_APlainOneBearsNoSchema(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(fixturePath(1, "queued"))
	require.NoError(t, err)
	require.NotContains(t, string(b), `"v":`)
}
