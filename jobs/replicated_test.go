package jobs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
)

// TestClaim_WaitsForReplicas: a claim that waits for replicas says that there were none, is
// the function that any other is, and is answered again when it is sent again.
func TestClaim_WaitsForReplicas(t *testing.T) {
	t.Parallel()
	rdb := redistest.Real(t)
	var verbs, commands []string
	rdb.AddHook(verbHook{seen: &verbs, by: &commands})
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
	require.Equal(t, []string{"claim", "claim"}, verbs[len(verbs)-2:])
	require.Equal(t, []string{"fcall", "fcall"}, commands[len(commands)-2:])
}
