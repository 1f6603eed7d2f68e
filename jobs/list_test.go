package jobs_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
)

// However the jobs lie over the partitions, pages hold all of them, newest first: a
// page that few entries of each partition do not make is read in full.
func TestList_PagesAreWholeHoweverJobsLie(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		crowded := b.crowd(45)
		for i := range 30 {
			b.submit("spread-" + strconv.Itoa(i))
		}
		crowded = append(crowded, b.crowd(20)...)
		require.Len(t, crowded, 65)
		all := slices.SortedFunc(slices.Values(b.pages(100)), func(x, y *jobs.Job) int {
			if x.CreatedAt != y.CreatedAt {
				return int(y.CreatedAt - x.CreatedAt)
			}
			return strings.Compare(y.ID, x.ID)
		})
		require.Len(t, all, 95)
		for _, limit := range []int{1, 4, 5, 20, 64} {
			require.Equal(t, ids(all), ids(b.pages(limit)), "limit %d", limit)
		}
	})
}

// crowd submits count jobs whose keys are all in one partition.
func (b *bundle) crowd(count int) []*jobs.Job {
	b.t.Helper()
	var made []*jobs.Job
	for i := 0; len(made) < count; i++ {
		key := strconv.Itoa(count) + "-" + strconv.Itoa(i)
		if strings.HasSuffix(jobs.NewID("dev", key), "07") {
			made = append(made, b.submit(key))
		}
	}
	return made
}

// pages reads the whole list, page by page.
func (b *bundle) pages(limit int) []*jobs.Job {
	b.t.Helper()
	var all []*jobs.Job
	for after := ""; ; {
		page, err := b.List(b.ctx, jobs.Query{Owner: "dev", Limit: limit, After: after})
		require.NoError(b.t, err)
		all = append(all, page.Jobs...)
		if !page.HasMore {
			return all
		}
		after = page.Next
	}
}

func ids(of []*jobs.Job) []string {
	all := make([]string, len(of))
	for i, job := range of {
		all[i] = job.ID
	}
	return all
}
