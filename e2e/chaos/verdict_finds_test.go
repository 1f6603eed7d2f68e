package chaos_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// What the ledger and the list have of nobody, or of two, is found.
func TestCollect_FindsWhatBelongsToNobody(t *testing.T) {
	t.Parallel()
	good := entry{Seq: 1, Kind: "create", Key: taleKey, Attempt: "job_1-a1", Mode: "ok", At: ms(12)}
	for what, test := range map[string]struct {
		ledger entry
		job    jobs.Job
		rules  string
	}{
		"sound":                      {ledger: good, job: jobs.Job{ID: "job_1", Owner: "dev", IdempotencyKey: "key-1"}},
		"an effect beneath no job":   {ledger: entry{Key: "who", Attempt: "job_9-a1"}, rules: "I2"},
		"an attempt of no job":       {ledger: entry{Key: taleKey, Attempt: "job_9-a1"}, rules: "I2"},
		"the payload of nobody":      {ledger: entry{Key: "who", Attempt: "job_1-a1", At: ms(12)}, rules: "I8"},
		"the payload of another":     {ledger: entry{Key: "dev.key-2", Attempt: "job_1-a1", At: ms(12)}, rules: "I2 I8"},
		"a job of a key not used":    {job: jobs.Job{ID: "job_9", Owner: "dev", IdempotencyKey: "who"}, rules: "I7"},
		"a second job of a key":      {job: jobs.Job{ID: "job_9", Owner: "dev", IdempotencyKey: "key-1"}, rules: "I1 I7"},
		"the key of another's owner": {job: jobs.Job{ID: "job_9", Owner: "other", IdempotencyKey: "key-1"}, rules: "I7"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			stories := map[string]*story{taleKey: cancelled(), "dev.key-2": cancelled()}
			other := stories["dev.key-2"]
			other.Job.ID, other.Calls, other.Ledger = "job_2", other.Calls[:0], nil
			stories[taleKey].Ledger = nil
			if test.ledger.Attempt != "" {
				file(stories, []entry{test.ledger})
			}
			if test.job.ID != "" {
				stories[taleKey].Listed = nil
				listed(stories, &test.job)
			}
			var found findings
			for _, s := range stories {
				if s != other {
					found = append(found, s.wrong()...)
					continue
				}
				s.creates(&found, walk{})
			}
			require.Equal(t, test.rules, strings.Join(found.rules(), " "), "%v", found)
		})
	}
}

// heard is what a verdict said.
type heard []string

func (h *heard) Errorf(format string, args ...any) { *h = append(*h, fmt.Sprintf(format, args...)) }

// The first stories that are wrong are told with everything that is known of them, and
// with the seed; of the rest it is said what is wrong.
func TestVerdict_TellsTheFirstStories(t *testing.T) {
	t.Parallel()
	said := &heard{}
	v := &verdict{t: said, seed: 42, pictures: t.TempDir()}
	for i := range shownMost + 2 {
		s := cancelled()
		s.Job.Version = 1
		s.Calls[2].Job.Version = 1
		v.judge(fmt.Sprint("key-", i), s)
		v.judge("sound", printed())
	}
	require.Equal(t, shownMost+2, v.wrong)
	require.Len(t, *said, shownMost+2)
	for i, text := range *said {
		require.Contains(t, text, fmt.Sprintf("seed 42, key-%d: I9: get was told version 1 after version 2; I9: ", i))
		require.Equal(t, i < shownMost, strings.Contains(text, "late_result_discarded"), text)
		require.Contains(t, text, "LINEAR")
	}
	drawn, err := filepath.Glob(filepath.Join(v.pictures, "*.html"))
	require.NoError(t, err)
	require.Len(t, drawn, shownMost)
	require.Contains(t, (*said)[0], "\n  trail")
	require.Contains(t, (*said)[0], "\n  ledger")
	require.Contains(t, (*said)[0], "\n  call")
}
