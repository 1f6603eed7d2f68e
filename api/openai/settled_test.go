package openai

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

func TestSettled(t *testing.T) {
	t.Parallel()
	now := time.Now()
	at := func(in time.Duration) jobs.Time { return jobs.Time(now.Add(in).UnixMilli()) }
	unknown := func(block jobs.Block, deadlines ...jobs.Time) jobs.Job {
		job := jobs.Job{State: jobs.Unknown, BlockedBy: &block}
		for _, deadline := range deadlines {
			job.Attempts = append(job.Attempts, jobs.Attempt{State: jobs.AttemptUnknown, Deadline: deadline})
		}
		return job
	}
	tests := map[string]struct {
		job  jobs.Job
		want bool
	}{
		"queued":                  {jobs.Job{State: jobs.Queued}, false},
		"running":                 {jobs.Job{State: jobs.Running}, false},
		"succeeded":               {jobs.Job{State: jobs.Succeeded}, true},
		"failed":                  {jobs.Job{State: jobs.Failed}, true},
		"cancelled":               {jobs.Job{State: jobs.Cancelled}, true},
		"listened to":             {unknown(jobs.Block{ListeningUntil: at(time.Minute)}), false},
		"listened to until now":   {unknown(jobs.Block{ListeningUntil: at(-grace / 2)}), false},
		"listened to before":      {unknown(jobs.Block{ListeningUntil: at(-2 * grace)}), true},
		"asked for":               {unknown(jobs.Block{ListeningUntil: at(-time.Minute), NextLookupAt: at(time.Minute)}), false},
		"asked for any time now":  {unknown(jobs.Block{NextLookupAt: at(-time.Minute)}), false},
		"nobody at it":            {unknown(jobs.Block{}), true},
		"another is listened to":  {unknown(jobs.Block{ListeningUntil: at(-time.Minute)}, at(-time.Minute), at(time.Minute)), false},
		"neither is listened to":  {unknown(jobs.Block{ListeningUntil: at(-time.Minute)}, at(-time.Minute), at(-time.Minute)), true},
		"an attempt that is over": {jobs.Job{State: jobs.Unknown, Attempts: []jobs.Attempt{{State: jobs.AttemptCancelled, Deadline: at(time.Minute)}}}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, settledAt(&test.job, now))
		})
	}
}
