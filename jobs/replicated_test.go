package jobs_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
)

// verbsSeen keeps the commands that ran verbs.
type verbsSeen struct {
	mu   sync.Mutex
	runs map[string][]string // commands, by verb
}

func (v *verbsSeen) DialHook(next redis.DialHook) redis.DialHook { return next }

func (v *verbsSeen) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if verb := jobs.VerbOf(cmd); verb != "" {
			v.mu.Lock()
			v.runs[verb] = append(v.runs[verb], cmd.Name())
			v.mu.Unlock()
		}
		return next(ctx, cmd)
	}
}

func (v *verbsSeen) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestClaim_WaitsForReplicas: a claim that waits for replicas says that there were none, is
// the function that any other is, and is answered again when it is sent again.
func TestClaim_WaitsForReplicas(t *testing.T) {
	t.Parallel()
	rdb := redistest.Real(t)
	seen := &verbsSeen{runs: map[string][]string{}}
	rdb.AddHook(seen)
	store := jobs.NewStore(rdb, jobs.Options{WaitReplicas: 1})
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	submitted, err := store.Submit(t.Context(), submission("k", `{"page":1}`))
	require.NoError(t, err)
	request := jobs.ClaimRequest{JobID: submitted.Job.ID, Attempt: 1, Token: "mine", Provider: "inkjet", Deadline: time.Hour, Actor: "worker"}
	for range 2 {
		claim, err := store.Claim(t.Context(), request)
		require.NoError(t, err)
		require.True(t, claim.Unreplicated)
	}
	require.Equal(t, []string{"fcall", "fcall"}, seen.runs["claim"])
}
