package spec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// traces is how many ways through the model are replayed of each kind.
const traces = 25

// The model and the scripts are two texts of the same rules. Here they meet: what
// the model does by the dice is done to the real store, and after every verb the
// answer and the record must be the model's.
func TestReplay_TheScriptsDoWhatTheModelDoes(t *testing.T) {
	t.Parallel()
	needsSpin(t)
	m, met := newModel(t), map[string]bool{}
	for _, definitions := range []string{
		"-DATTEMPTS=3 -DPLANNED=3 -DDECISIONS=0 -DRACING",
		"-DATTEMPTS=3 -DPLANNED=3 -DDECISIONS=1 -DRACING -DPATIENT",
		"-DATTEMPTS=3 -DPLANNED=2 -DDECISIONS=2 -DSETTLES -DPATIENT",
		"-DATTEMPTS=3 -DPLANNED=2 -DDECISIONS=1 -DSETTLES -DSTART_BY",
	} {
		for seed := range traces {
			tr := m.simulate(t, definitions, seed+1)
			require.Empty(t, replay(t, tr, met), "the store and the model differ, in\n%s", tr.text)
		}
	}
	for _, what := range []string{
		"claim CLAIMED", "claim NOT_STARTING", "claim START_EXPIRED", "expire_start START_EXPIRED", "beat ", "suspect SUSPECTED",
		"finalize WON", "finalize LATE", "fail NO", "fail LATE", "open OPENED", "race ", "resolve RESOLVED", "resolve WON",
		"cancel CANCELLED",
	} {
		require.True(t, met[what], "no trace has %q: play more of them", what)
	}
}

// A comparison that sees nothing shows nothing: a model without a rule does what the
// scripts do not.
func TestReplay_ADifferenceIsSeen(t *testing.T) {
	t.Parallel()
	needsSpin(t)
	m := newModel(t)
	for _, definitions := range []string{
		"-DATTEMPTS=3 -DPLANNED=2 -DDECISIONS=1 -DNO_RISE",
		"-DATTEMPTS=3 -DPLANNED=3 -DDECISIONS=1 -DRACING -DPATIENT -DNO_SURVIVOR",
		"-DATTEMPTS=2 -DPLANNED=2 -DDECISIONS=1 -DNO_CLAIM_TOKEN",
		"-DATTEMPTS=2 -DPLANNED=2 -DDECISIONS=1 -DNO_OPERATION_IDS",
	} {
		seen := ""
		for seed := 1; seed <= traces && seen == ""; seed++ {
			seen = replay(t, m.simulate(t, definitions, seed), map[string]bool{})
		}
		require.NotEmpty(t, seen, definitions)
	}
}

// player does to a store what a trace says.
type player struct {
	ctx    context.Context
	store  *jobs.Store
	clock  *miniredis.Miniredis
	now    time.Time
	policy *jobs.Policy
	id     string
	tokens map[int]string // of the attempts
	ops    map[int]string // of the senders: the operation under way
	held   map[int]int    // the attempt each worker has claimed
	within time.Duration  // to start the job in
}

const lease = 15 * time.Second

func newPlayer(t *testing.T, tr trace) *player {
	t.Helper()
	m := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: m.Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	t.Cleanup(cancel)
	p := &player{
		ctx: ctx, store: jobs.NewStore(rdb, jobs.Options{Lease: lease}), clock: m, now: time.Unix(1_700_000_000, 0),
		within: tr.within, policy: &jobs.Policy{MaxAttempts: tr.planned, Tries: 9, Failover: "untested", Providers: []jobs.PolicyProvider{
			{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"},
		}},
		tokens: map[int]string{}, ops: map[int]string{}, held: map[int]int{},
	}
	t.Cleanup(func() { _ = p.store.Close() })
	m.SetTime(p.now)
	return p
}

// replay does a trace to a store of its own and tells the first difference; met
// collects what was done, and how it was answered.
func replay(t *testing.T, tr trace, met map[string]bool) string {
	t.Helper()
	p := newPlayer(t, tr)
	for i, s := range tr.steps {
		answer, err := p.play(s)
		if err != nil || answer != s.answer {
			return fmt.Sprintf("step %d, %+v: answered %q, %v", i, s, answer, err)
		}
		met[s.verb+" "+s.answer] = true
		want, told := tr.records[i]
		if got := p.record(t); told && got != want {
			return fmt.Sprintf("after step %d, %+v: got %s, want %s", i, s, got, want)
		}
	}
	return ""
}

// op is the id of the operation a sender has under way; nobody's is always new.
func (p *player) op(by int) string {
	if by == 0 {
		return jobs.NewOp()
	}
	if p.ops[by] == "" {
		p.ops[by] = jobs.NewOp()
	}
	return p.ops[by]
}

// play does one step and says in the model's words how it was answered.
func (p *player) play(s step) (string, error) {
	decision := jobs.Decision{JobID: p.id, Attempt: s.attempt, Actor: "operator:1", Reason: "r", ExpectVersion: s.version}
	ending := jobs.Ending{JobID: p.id, Attempt: s.attempt}
	switch s.verb {
	case "submit":
		return p.submit()
	case "claim":
		return p.claim(s)
	case "beat":
		return "", p.beat(s.attempt)
	case "leave":
		delete(p.ops, s.by)
		delete(p.held, s.by)
		return "", nil
	case "lapse":
		return "", p.lapse(s.attempt)
	case "start_by":
		return "", p.startOver()
	case "suspect":
		token := ""
		if s.by != 0 {
			token = p.tokens[s.attempt]
		}
		suspected, err := p.store.Suspect(p.ctx, jobs.Suspicion{JobID: p.id, Attempt: s.attempt, Token: token, Reason: "silence"})
		return word(suspected, "SUSPECTED", "NOT_RUNNING"), err
	case "finalize":
		ending.Op = p.op(s.by)
		reported, err := p.store.Finalize(p.ctx, ending, json.RawMessage(`"answered"`), nil)
		return word(reported.Late == "", "WON", "LATE"), err
	case "fail":
		ending.Op = p.op(s.by)
		reported, err := p.store.Fail(p.ctx, ending, jobs.Failure{Reason: s.detail, Retryable: s.on, Policy: p.policy})
		return word(reported.Late == "", "NO", "LATE"), err
	case "race":
		wakes, why, err := p.store.Race(p.ctx, p.id, s.attempt, p.policy)
		return word(len(wakes) == 1, "", why), err
	case "expire_start":
		return "START_EXPIRED", p.store.ExpireStart(p.ctx, p.id, s.attempt)
	case "open":
		decision.Op = p.op(s.by)
		_, err := p.store.Open(p.ctx, jobs.OpenRequest{Decision: decision})
		return "OPENED", err
	case "resolve":
		decision.Op = p.op(s.by)
		return p.resolve(s, decision)
	case "cancel":
		decision.Op = p.op(s.by)
		_, err := p.store.CancelJob(p.ctx, decision)
		return "CANCELLED", err
	}
	return "", nil // send: the store is not asked
}

func (p *player) submit() (string, error) {
	p.id = jobs.NewID("dev", "k")
	submitted, err := p.store.Submit(p.ctx, jobs.Submission{
		ID: p.id, Owner: "dev", Key: "k", Fingerprint: "v1:a", Route: "print", Provider: "a", Input: json.RawMessage(`{}`),
		StartWithin: p.within,
	})
	return word(submitted.Created, "CREATED", "EXISTS"), err
}

// claim sends the claim of a delivery; by a worker that has the attempt in hand, it
// is the same claim, sent again.
func (p *player) claim(s step) (string, error) {
	token := jobs.NewOp()
	if p.held[s.by] == s.attempt {
		token = p.tokens[s.attempt]
	}
	job, err := p.store.Get(p.ctx, p.id)
	if err != nil {
		return "", err
	}
	_, err = p.store.Claim(p.ctx, jobs.ClaimRequest{
		JobID: p.id, Attempt: s.attempt, Token: token, Provider: job.Attempt(s.attempt).Provider, Deadline: 1000 * time.Hour,
	})
	if not, ok := errors.AsType[*jobs.NotClaimed](err); ok {
		return map[string]string{"not_starting": "NOT_STARTING", "start_expired": "START_EXPIRED"}[not.Why], nil
	}
	if err == nil {
		p.tokens[s.attempt], p.held[s.by] = token, s.attempt
	}
	return "CLAIMED", err
}

func (p *player) beat(attempt int) error {
	beating, err := p.store.Beat(p.ctx, &jobs.Claim{JobID: p.id, Attempt: attempt, Token: p.tokens[attempt]}, 0)
	if err == nil && !beating {
		return errors.New("revoked")
	}
	return err
}

func (p *player) pass(d time.Duration) {
	p.now = p.now.Add(d)
	p.clock.SetTime(p.now)
}

// lapse lets a lease end. Of others nothing is running that it could end with it;
// of an unknown attempt the store asks no lease any more.
func (p *player) lapse(attempt int) error {
	job, err := p.store.Get(p.ctx, p.id)
	if err == nil && job.Attempt(attempt).State == jobs.AttemptRunning {
		p.pass(lease + time.Second)
	}
	return err
}

// startOver lets the time to start pass; whoever is running with a good lease beats
// meanwhile.
func (p *player) startOver() error {
	job, err := p.store.Get(p.ctx, p.id)
	if err != nil {
		return err
	}
	good := map[int]bool{}
	for _, a := range job.Attempts {
		good[a.Number] = a.State == jobs.AttemptRunning && a.Lease.Go().After(p.now)
	}
	p.pass(2 * time.Hour)
	for n := range good {
		if good[n] {
			err = errors.Join(err, p.beat(n))
		}
	}
	return err
}

func (p *player) resolve(s step, d jobs.Decision) (string, error) {
	r := jobs.Resolution{Decision: d, Outcome: s.detail, Policy: p.policy}
	if s.detail == "succeeded" {
		r.Result = json.RawMessage(`"said by a person"`)
	}
	if s.on {
		r.Then = "continue"
	}
	changed, err := p.store.Resolve(p.ctx, r)
	if err != nil {
		return "", err
	}
	return word(s.detail == "succeeded" && changed.Job.CompletedBy == s.attempt, "WON", "RESOLVED"), nil
}

func word(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// record is the job in the store, as the model prints its own.
func (p *player) record(t *testing.T) string {
	t.Helper()
	job, err := p.store.Get(p.ctx, p.id)
	require.NoError(t, err)
	line := fmt.Sprintf("%s version %d winner %d:", job.State, job.Version, job.CompletedBy)
	for n := 1; n <= 3; n++ {
		a := job.Attempt(n)
		if a == nil {
			line += " 0/0/0"
			continue
		}
		late := 0
		if a.LateResult != nil {
			late = 1
		}
		line += fmt.Sprintf(" %s/%d/%d", a.State, a.Fence, late)
	}
	return line
}
