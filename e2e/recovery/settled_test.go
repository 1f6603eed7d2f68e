package recovery_test

import (
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
	"onejob/jobs"
)

// settleTime is how long everything may take to come to rest.
const settleTime = 100 * time.Second

// settled is what every test ends with. It waits until every job has ended, or
// is unknown and says why, and then looks at the ledger, at the jobs that exist,
// and at what fsck says.
func (w *world) settled() {
	w.t.Helper()
	for key, id := range w.jobs {
		w.await(id, key+" has come to rest", settleTime, atRest)
	}
	w.checked()
}

// checked is settled without the waiting.
func (w *world) checked() {
	w.t.Helper()
	creates := w.creates()
	onceEach(w.t, creates)
	w.onlyAcknowledged(creates)
	w.fsckClean()
}

// atRest tells whether a job has ended or is unknown with a reason on every
// unknown attempt.
func atRest(job *jobs.Job) bool {
	if job.State.Ended() {
		return true
	}
	if job.State != jobs.Unknown {
		return false
	}
	for _, a := range job.Attempts {
		if a.State == jobs.AttemptUnknown && a.Reason == "" {
			return false
		}
	}
	return job.BlockedBy != nil
}

// onlyAcknowledged: one key has one job (I7), and every create belongs to an
// attempt on record.
func (w *world) onlyAcknowledged(creates map[string]int) {
	w.t.Helper()
	known := map[string]bool{}
	keys := map[string]string{}
	err := w.store.EachJob(w.ctx, func(id string) error {
		job, err := w.store.Get(w.ctx, id)
		if err != nil {
			return err
		}
		if other, ok := keys[job.IdempotencyKey]; ok && other != id {
			return fmt.Errorf("key %s has two jobs: %s and %s", job.IdempotencyKey, other, id)
		}
		keys[job.IdempotencyKey] = id
		for _, a := range job.Attempts {
			known[a.ID] = true
		}
		return nil
	})
	require.NoError(w.t, err)
	for attempt := range creates {
		require.True(w.t, known[attempt], "the provider was asked for %s, which is on no record", attempt)
	}
}

// fsck runs `onejob fsck` and gives what it said, and whether it exited with 0.
func (w *world) fsck(args ...string) (string, bool) {
	w.t.Helper()
	cmd := exec.CommandContext(w.ctx, program.Onejob(w.t), append([]string{"fsck", "--config", w.config}, args...)...)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func (w *world) fsckClean() {
	w.t.Helper()
	out, ok := w.fsck()
	require.True(w.t, ok, "fsck: %s", out)
	require.Contains(w.t, out, " 0 findings", "fsck found something")
}

// hasten lets the time pass that the entries of a kind in the due sets still
// have to wait.
func (w *world) hasten(kind string) {
	w.t.Helper()
	for p := range jobs.Partitions {
		due := fmt.Sprintf("oj:{%d}:due", p)
		members, err := w.rdb.ZRange(w.ctx, due, 0, -1).Result()
		require.NoError(w.t, err)
		for _, member := range members {
			if strings.HasPrefix(member, kind+":") {
				require.NoError(w.t, w.rdb.ZAddXX(w.ctx, due, redis.Z{Score: 1, Member: member}).Err())
			}
		}
	}
}
