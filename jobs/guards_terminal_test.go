package jobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

// everyVerb is one plausible command of each verb on attempt 1.
func everyVerb() []command {
	return []command{
		{verb: "claim", token: "new", provider: "inkjet"},
		{verb: "beat", token: "mine"},
		{verb: "accept", token: "mine", message: "handle"},
		{verb: "suspect", op: "S", token: "mine", reason: "timeout"},
		finalizes, fails, resolves,
		{verb: "resolve", op: "R2", outcome: "failed", policy: onePolicy},
		{verb: "resolve", op: "R3", outcome: "cancelled", then: "continue", policy: onePolicy},
		{verb: "cancel", op: "C"},
		{verb: "hold", reason: "archived"},
		{verb: "look", message: "running"},
		{verb: "note", message: "cancel_asked", reason: "asked"},
		{verb: "expire_start"},
	}
}

// TestGuards_TerminalStatesNeverChange is I5, for attempts: every verb on every
// terminal state, while the job still goes on with another attempt.
func TestGuards_TerminalStatesNeverChange(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"succeeded", "failed", "cancelled", "discarded"} {
		for _, c := range everyVerb() {
			t.Run(state+"/"+c.verb+" "+c.outcome, func(t *testing.T) {
				t.Parallel()
				redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
					h := makeJob(t, rdb, nil, fields{"state": state, "reason": "its own"}, fields{"state": "running", "token": "its"})
					h.say(c)
					now := h.image()
					require.Equal(t, state, now.attempts["1.state"])
					require.Equal(t, "its own", now.attempts["1.reason"])
				})
			})
		}
	}
}

// TestGuards_FinalJobsNeverChange is I5, for jobs: every verb on a job that is
// succeeded or cancelled, beneath which something is open that should not be.
func TestGuards_FinalJobsNeverChange(t *testing.T) {
	t.Parallel()
	jobs := map[string]fields{
		"succeeded": {"state": "succeeded", "completed_by": 2, "result": `"old"`, "result_digest": hash(`"old"`)[:32]},
		"cancelled": {"state": "cancelled"},
	}
	commands := append(everyVerb(), command{verb: "open", op: "O"}, command{verb: "race", op: "O", policy: racePolicy})
	for state, job := range jobs {
		for _, c := range commands {
			t.Run(state+"/"+c.verb+" "+c.outcome, func(t *testing.T) {
				t.Parallel()
				redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
					// The fence is not the job's version: it was raised when the job ended.
					h := makeJob(t, rdb, job, fields{"fence": 4, "state": "unknown"})
					before := h.image()
					h.say(c)
					now := h.image()
					require.Equal(t, state, now.job["state"])
					require.Equal(t, before.job["result"], now.job["result"])
					require.Equal(t, before.job["completed_by"], now.job["completed_by"])
					require.Equal(t, before.states, now.states)
					require.Equal(t, "1", now.job["attempts"])
				})
			})
		}
	}
}

// TestGuards_SentAgain: a script that finds its own operation id gives the first
// answer again and does nothing. Each verb is sent twice, then once more after
// the job has moved on.
func TestGuards_SentAgain(t *testing.T) {
	t.Parallel()
	type records struct {
		job      fields
		attempts []fields
	}
	running := records{nil, []fields{nil}}
	unknown := records{fields{"state": "unknown"}, []fields{{"state": "unknown"}}}
	failed := records{fields{"state": "failed"}, []fields{{"state": "failed"}}}
	moved := records{nil, []fields{{"fence": 4}}}
	retry := fails
	retry.retryable, retry.policy = true, modelPolicy{MaxAttempts: 3, Tries: 2, Max: 1, Failover: "untested"}
	for name, c := range map[string]struct {
		records
		command
		want string
	}{
		"finalize":                {running, finalizes, "won"},
		"late finalize":           {moved, finalizes, "late version_moved"},
		"fail for good":           {running, fails, "failed"},
		"fail and go on":          {running, retry, "failed"},
		"late fail":               {moved, fails, "late version_moved"},
		"suspect":                 {running, command{verb: "suspect", op: "S", token: "mine", reason: "timeout"}, "suspected"},
		"open":                    {failed, command{verb: "open", op: "O"}, "opened"},
		"resolve: succeeded":      {unknown, resolves, "won"},
		"resolve: failed":         {unknown, command{verb: "resolve", op: "R", outcome: "failed", policy: onePolicy}, "resolved"},
		"resolve: cancel, go on":  {unknown, command{verb: "resolve", op: "R", outcome: "cancelled", then: "continue", policy: retry.policy}, "resolved"},
		"cancel job":              {running, command{verb: "cancel", op: "C"}, "cancelled"},
		"claim, known by a token": {records{fields{"state": "queued"}, []fields{{"state": "starting"}}}, command{verb: "claim", op: "T", token: "T", provider: "inkjet"}, "claimed"},
		"accept":                  {running, command{verb: "accept", token: "mine", message: "handle"}, "accepted"},
		"hold":                    {records{fields{"state": "queued"}, []fields{{"state": "starting"}}}, command{verb: "hold", reason: "archived"}, "held"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				h := makeJob(t, rdb, c.job, c.attempts...)
				want, c := c.want, c.command
				c.attempt, c.actor, c.lease, c.deadline = 1, "worker", hour, hour
				first, err := h.send(c)
				require.NoError(t, err)
				require.Contains(t, want, first[0])
				done := h.image()
				again, err := h.send(c)
				require.NoError(t, err)
				require.Equal(t, first[:8], again[:8], "another answer") // [8] is what is left to wait
				after := h.image()
				after.expiries = done.expiries
				require.Equal(t, done, after, "done twice")
			})
		})
	}
}

// TestGuards_AnAnswerIsRememberedWhileTheJobMovesOn: the reply to `open` is lost,
// the attempt fails meanwhile, the command comes again: it opens nothing.
func TestGuards_AnAnswerIsRememberedWhileTheJobMovesOn(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		h := makeJob(t, rdb, fields{"state": "failed"}, fields{"state": "failed"})
		open := command{verb: "open", op: "O"}
		require.Equal(t, "opened", h.say(open))
		require.Equal(t, "claimed", h.say(command{verb: "claim", attempt: 2, token: "two", provider: "inkjet"}))
		no := fails
		no.attempt, no.fence = 2, 0
		require.Equal(t, "failed", h.say(no))
		before := h.image()
		require.Equal(t, "opened", h.say(open))
		require.Equal(t, before.job, h.image().job)
	})
}

// TestGuards_TimesToLive: only ending a job sets them and only reopening removes
// them [no update drops or shortens a key's time to live].
func TestGuards_TimesToLive(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		h := makeJob(t, rdb, nil, nil)
		require.NoError(t, rdb.Set(h.ctx, h.key, "v1:a "+h.id, 0).Err())
		require.Equal(t, [2]int64{-1, -1}, h.image().expiries)
		require.Equal(t, "failed", h.say(fails))
		ended := h.image().expiries
		now := time.Now().UnixMilli()
		require.InDelta(t, now+hour, ended[0], 10_000)
		require.InDelta(t, now+10*hour, ended[1], 10_000)

		late := finalizes
		late.op = "late"
		require.Equal(t, "late attempt_failed", h.say(late))
		require.Equal(t, "accepted", h.say(command{verb: "accept", token: "mine", message: "handle"}))
		for i, at := range h.image().expiries {
			require.InDelta(t, ended[i], at, 1000)
		}
		require.Equal(t, "opened", h.say(command{verb: "open", op: "O"}))
		reopened := h.image()
		require.Equal(t, [2]int64{-1, -1}, reopened.expiries)
		require.NotContains(t, reopened.job, "expires")
		for entry := range reopened.due {
			require.False(t, strings.HasPrefix(entry, "expire:"), "%s is still due", entry)
		}
	})
}

// TestGuards_AKeyOutlivesItsJob: retention.key is never less than the job's.
func TestGuards_AKeyOutlivesItsJob(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		h := makeJob(t, rdb, nil, nil)
		h.keepJob, h.keepKey = 10*hour, hour
		require.NoError(t, rdb.Set(h.ctx, h.key, "v1:a "+h.id, 0).Err())
		require.Equal(t, "won", h.say(finalizes))
		expiries := h.image().expiries
		require.InDelta(t, expiries[0], expiries[1], 1000)
	})
}

// TestGuards_NothingIsWrittenForAJobThatIsNotThere: a verb on a job that is not
// there writes nothing.
func TestGuards_NothingIsWrittenForAJobThatIsNotThere(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		h := makeJob(t, rdb, nil, nil)
		require.NoError(t, rdb.FlushDB(h.ctx).Err())
		for _, c := range append(everyVerb(), command{verb: "open", op: "O"}) {
			require.Equal(t, "not_found", h.say(c))
		}
		size, err := rdb.DBSize(h.ctx).Result()
		require.NoError(t, err)
		require.Zero(t, size)
	})
}
