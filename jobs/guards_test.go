package jobs_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

// TestGuards_DoorToTheSlot: fence, slot and attempt state are three guards on one
// door (design §2). Each is tried alone, the other two held open by hand.
func TestGuards_DoorToTheSlot(t *testing.T) {
	t.Parallel()
	wrongFence := finalizes
	wrongFence.fence = 4
	for name, c := range map[string]struct {
		job     fields
		attempt fields
		report  command
		want    string
		state   string // of the attempt, after
	}{
		"fence of the attempt, finalize": {nil, fields{"fence": 4}, finalizes, "late version_moved", "discarded"},
		"fence of the attempt, fail":     {nil, fields{"fence": 4}, fails, "late version_moved", "discarded"},
		"fence of the attempt, resolve":  {fields{"state": "unknown"}, fields{"fence": 4, "state": "unknown"}, resolves, "late version_moved", "discarded"},
		"fence of the caller, finalize":  {nil, nil, wrongFence, "late version_moved", "discarded"},
		"slot, finalize":                 {fields{"completed_by": 2}, nil, finalizes, "late slot_taken", "discarded"},
		"slot, fail":                     {fields{"completed_by": 2}, nil, fails, "late slot_taken", "discarded"},
		"slot, resolve":                  {fields{"completed_by": 2}, fields{"state": "unknown"}, resolves, "late slot_taken", "discarded"},
		"state cancelled, finalize":      {nil, fields{"state": "cancelled"}, finalizes, "late attempt_cancelled", "cancelled"},
		"state failed, finalize":         {nil, fields{"state": "failed"}, finalizes, "late attempt_failed", "failed"},
		"state discarded, finalize":      {nil, fields{"state": "discarded"}, finalizes, "late attempt_discarded", "discarded"},
		"state starting, finalize":       {nil, fields{"state": "starting"}, finalizes, "late version_moved", "discarded"},
		"state cancelled, fail":          {nil, fields{"state": "cancelled"}, fails, "late attempt_cancelled", "cancelled"},
		"state succeeded, fail":          {nil, fields{"state": "succeeded"}, fails, "late attempt_succeeded", "succeeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				h := makeJob(t, rdb, c.job, c.attempt, fields{"state": "running"})
				require.Equal(t, c.want, h.say(c.report))
				now := h.image()
				require.Equal(t, c.state, now.attempts["1.state"])
				require.NotContains(t, now.job, "result")
				require.NotEqual(t, "succeeded", now.job["state"])
				require.Equal(t, "5", now.job["version"])
				require.NotEmpty(t, now.attempts["1.late_sha256"])
				require.NotEmpty(t, now.attempts["1.late_at"])
				require.Contains(t, now.trail[0], "late_result_discarded")
			})
		})
	}
}

// TestGuards_Refusals: one rule each stands in the way, and nothing is written.
func TestGuards_Refusals(t *testing.T) {
	t.Parallel()
	starting := fields{"state": "starting"}
	unknown := fields{"state": "unknown"}
	past, future := time.Now().Add(-time.Hour).UnixMilli(), time.Now().Add(time.Hour).UnixMilli()
	claim := command{verb: "claim", token: "new", provider: "inkjet"}
	laser := command{verb: "claim", token: "new", provider: "laser"}
	race := command{verb: "race", op: "O", policy: racePolicy}
	soon := time.Now().Add(30 * time.Second).UnixMilli()
	open := command{verb: "open", op: "O"}
	for name, c := range map[string]struct {
		job     fields
		attempt fields
		command command
		want    string
	}{
		"claim: not starting":                  {nil, nil, claim, "not_starting running"},
		"claim: unknown is not starting":       {nil, unknown, claim, "not_starting unknown"},
		"claim: another provider's":            {nil, starting, laser, "not_starting starting"},
		"claim: the job has ended":             {fields{"state": "cancelled"}, starting, claim, "not_starting starting"},
		"beat: another token":                  {nil, nil, command{verb: "beat", token: "other"}, "revoked running"},
		"beat: not running":                    {nil, unknown, command{verb: "beat", token: "mine"}, "revoked unknown"},
		"beat: past the deadline (I10)":        {nil, fields{"deadline": past}, command{verb: "beat", token: "mine"}, "revoked running"},
		"accept: another token":                {nil, nil, command{verb: "accept", token: "other", message: "h"}, "revoked running"},
		"suspect: another token, lease good":   {nil, nil, command{verb: "suspect", op: "S", token: "other", reason: "timeout"}, "not_lapsed"},
		"suspect: no token, lease good":        {nil, nil, command{verb: "suspect", op: "S"}, "not_lapsed"},
		"suspect: not running":                 {nil, unknown, command{verb: "suspect", op: "S", token: "mine"}, "not_running unknown"},
		"suspect: starting, though lapsed":     {nil, fields{"state": "starting", "lease": past}, command{verb: "suspect", op: "S"}, "not_running starting"},
		"open: one is starting (I4)":           {nil, starting, open, "attempt_open"},
		"open: one is running (I4)":            {nil, nil, open, "attempt_open"},
		"open: one is unknown (I4)":            {nil, unknown, open, "attempt_open"},
		"open: the job succeeded (I5)":         {fields{"state": "succeeded"}, fields{"state": "succeeded"}, open, "job_final"},
		"open: the job is cancelled (I5)":      {fields{"state": "cancelled"}, fields{"state": "cancelled"}, open, "job_final"},
		"open: another version":                {fields{"state": "failed"}, fields{"state": "failed"}, command{verb: "open", op: "O", expected: 4}, "version_mismatch"},
		"open: the record is about to expire":  {fields{"state": "failed", "expires": soon}, fields{"state": "failed"}, command{verb: "open", op: "O", margin: 60_000}, "expiring"},
		"race: the job has failed":             {fields{"state": "failed"}, fields{"state": "failed"}, race, "not_racing moved_on"},
		"race: it is not silent":               {nil, nil, race, "not_racing moved_on"},
		"race: attempts spent":                 {nil, unknown, command{verb: "race", op: "O", policy: modelPolicy{MaxAttempts: 1, Providers: twoProviders, Failover: "untested"}}, "not_racing attempts_spent"},
		"race: no other provider":              {nil, fields{"state": "unknown", "provider": "laser"}, race, "not_racing providers_spent"},
		"race: nothing allows the other":       {nil, unknown, command{verb: "race", op: "O", policy: modelPolicy{MaxAttempts: 3, Providers: twoProviders, Failover: "certified"}}, "not_racing failover_not_certified"},
		"resolve: succeeded but running":       {nil, nil, resolves, "not_unknown"},
		"resolve: failed but starting":         {nil, starting, command{verb: "resolve", op: "R", outcome: "failed", policy: onePolicy}, "not_unknown"},
		"resolve: terminal (I5)":               {nil, fields{"state": "failed"}, command{verb: "resolve", op: "R", outcome: "cancelled", policy: onePolicy}, "attempt_terminal"},
		"resolve: another version":             {nil, unknown, command{verb: "resolve", op: "R", outcome: "cancelled", expected: 4, policy: onePolicy}, "version_mismatch"},
		"cancel: succeeded":                    {fields{"state": "succeeded"}, fields{"state": "succeeded"}, command{verb: "cancel", op: "C"}, "job_final"},
		"cancel: failed":                       {fields{"state": "failed"}, fields{"state": "failed"}, command{verb: "cancel", op: "C"}, "job_final"},
		"cancel: another version":              {nil, nil, command{verb: "cancel", op: "C", expected: 4}, "version_mismatch"},
		"hold: not starting":                   {nil, nil, command{verb: "hold", reason: "archived"}, "not_starting running"},
		"the winner's own bytes are no news":   {fields{"state": "succeeded", "completed_by": 1, "result": `"new"`, "result_digest": hash(`"new"`)[:32]}, fields{"state": "succeeded"}, finalizes, "won"},
		"the same definite no is no news":      {fields{"state": "failed"}, fields{"state": "failed", "reason": "busy"}, fails, "failed"},
		"no such attempt":                      {nil, nil, command{verb: "finalize", attempt: 7, op: "F"}, "no_attempt"},
		"claim: again with the token it holds": {nil, nil, command{verb: "claim", token: "mine", provider: "inkjet"}, "claimed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				h := makeJob(t, rdb, c.job, c.attempt)
				before := h.image()
				require.Equal(t, c.want, h.say(c.command))
				require.Equal(t, before, h.image(), "something was written")
			})
		})
	}
	t.Run("race: another is not silent", func(t *testing.T) {
		t.Parallel()
		redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
			h := makeJob(t, rdb, nil, nil, unknown)
			before := h.image()
			again := race
			again.attempt = 2
			require.Equal(t, "attempt_open", h.say(again))
			require.Equal(t, before, h.image())
		})
	})
	t.Run("race: not against the last attempt", func(t *testing.T) {
		t.Parallel()
		redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
			h := makeJob(t, rdb, fields{"state": "unknown"}, unknown, unknown)
			before := h.image()
			require.Equal(t, "not_racing moved_on", h.say(race))
			require.Equal(t, before, h.image())
		})
	})
	t.Run("claim: too early", func(t *testing.T) {
		t.Parallel()
		redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
			h := makeJob(t, rdb, fields{"state": "queued"}, fields{"state": "starting", "not_before": future})
			before := h.image()
			require.Contains(t, h.say(claim), "too_early")
			require.Equal(t, before, h.image())
		})
	})
	t.Run("claim: too late", func(t *testing.T) {
		t.Parallel()
		redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
			h := makeJob(t, rdb, fields{"state": "queued", "start_by": past}, starting)
			require.Equal(t, "start_expired", h.say(claim))
			now := h.image()
			require.Equal(t, "cancelled", now.attempts["1.state"])
			require.Equal(t, "failed", now.job["state"])
			require.Equal(t, "start_expired", now.job["error_code"])
		})
	})
}

// TestGuards_SuspectByLapse: without a token a lease or a deadline must be over.
func TestGuards_SuspectByLapse(t *testing.T) {
	t.Parallel()
	past := time.Now().Add(-time.Hour).UnixMilli()
	for name, c := range map[string]struct {
		attempt fields
		reason  string
	}{
		"lease":    {fields{"lease": past}, "worker_lost"},
		"deadline": {fields{"deadline": past}, "deadline"},
		// Nobody beat it up to its deadline, which has passed since, too.
		"lease, noticed late": {fields{"lease": past - 1000, "deadline": past}, "worker_lost"},
		"deadline, beaten":    {fields{"lease": past, "deadline": past - 1000}, "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				h := makeJob(t, rdb, nil, c.attempt)
				require.Equal(t, "suspected", h.say(command{verb: "suspect", op: "S"}))
				now := h.image()
				require.Equal(t, "unknown", now.attempts["1.state"])
				require.Equal(t, c.reason, now.attempts["1.reason"])
				require.Equal(t, "unknown", now.job["state"])
			})
		})
	}
}

// TestGuards_ARacedSurvivorKeepsItsFence: of two that race, the one that is given
// up is shut out by its state; the other's fence stays good, and it wins.
func TestGuards_ARacedSurvivorKeepsItsFence(t *testing.T) {
	t.Parallel()
	for _, outcome := range []string{"cancelled", "failed"} {
		t.Run(outcome, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				h := makeJob(t, rdb, nil, fields{"state": "unknown"}, nil)
				require.Equal(t, "resolved", h.say(command{verb: "resolve", op: "R", outcome: outcome, policy: onePolicy}))
				require.Equal(t, "running", h.image().job["state"])
				survivor := finalizes
				survivor.attempt = 2
				require.Equal(t, "won", h.say(survivor))
				late := finalizes
				late.op, late.result = "late", `"other"`
				require.Contains(t, h.say(late), "late")
				now := h.image()
				require.Equal(t, "2", now.job["completed_by"])
				require.Equal(t, `"new"`, now.job["result"])
				require.Equal(t, outcome, now.attempts["1.state"])
			})
		})
	}
}

// TestGuards_TheWinnerShutsOutTheOthers: of two that race, the loser is discarded
// in the same script, its provider is to be asked to cancel, and what it brings
// later is recorded.
func TestGuards_TheWinnerShutsOutTheOthers(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		h := makeJob(t, rdb, nil, fields{"state": "unknown"}, nil)
		winner := finalizes
		winner.attempt = 2
		require.Equal(t, "won", h.say(winner))
		now := h.image()
		require.Equal(t, "discarded", now.attempts["1.state"])
		require.Contains(t, now.due, "cancel:"+h.id+":1")
		late := finalizes
		late.op, late.result = "late", `"other"`
		require.Equal(t, "late slot_taken", h.say(late))
		require.Equal(t, `"new"`, h.image().job["result"])
	})
}

// TestGuards_AFailureBesideAnOpenAttemptOpensNothing: what is planned after a
// failure waits for the attempt that races on (I4).
func TestGuards_AFailureBesideAnOpenAttemptOpensNothing(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		h := makeJob(t, rdb, nil, fields{"state": "unknown"}, nil)
		no := fails
		no.retryable, no.policy = true, racePolicy
		require.Equal(t, "failed", h.say(no))
		now := h.image()
		require.Equal(t, "2", now.job["attempts"])
		require.Equal(t, "failed", now.attempts["1.state"])
		require.Equal(t, "running", now.job["state"])
	})
}
