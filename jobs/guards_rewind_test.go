package jobs_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

// TestGuards_AfterARewind: where the partition went back in time since the latest
// attempt was opened, a next one may be known to a provider from the lost future. Its
// number is never used, and nothing opens one by itself (design §3).
func TestGuards_AfterARewind(t *testing.T) {
	t.Parallel()
	retryable := fails
	retryable.retryable, retryable.policy = true, racePolicy
	for name, c := range map[string]struct {
		job, attempt fields
		command      command
		attempts     string
		state        string
	}{
		"a person opens the next":  {fields{"state": "failed"}, fields{"state": "failed"}, command{verb: "open", op: "O"}, "101", "queued"},
		"a person says go on":      {nil, nil, command{verb: "resolve", op: "R", outcome: "cancelled", then: "continue", policy: racePolicy}, "101", "queued"},
		"none follows by itself":   {nil, nil, retryable, "1", "failed"},
		"one opened since is past": {fields{"epoch": 1}, nil, retryable, "2", "queued"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				h := makeJob(t, rdb, c.job, c.attempt)
				require.NoError(t, rdb.Set(h.ctx, h.prefix+"epoch", 1, 0).Err())
				h.say(c.command)
				now := h.image()
				require.Equal(t, c.attempts, now.job["attempts"])
				require.Equal(t, c.state, now.job["state"])
			})
		})
	}
}
