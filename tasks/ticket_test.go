package tasks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/redistest"
	"onejob/tasks"
)

// A ticket is scheduled for after the record's expiry: it never runs by itself in
// time to do anything. One that is there stays as it is.
func TestEnqueueTicket(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		d := openDesk(t, rdb, "k")
		expires := time.Now().Add(time.Hour)
		job := &jobs.Job{
			ID: d.wake.JobID, Version: 3, State: jobs.Failed, Route: "print", Owner: "dev",
			Error: &jobs.Error{Code: "busy"}, Attempts: make([]jobs.Attempt, 2), ExpiresAt: jobs.Time(expires.UnixMilli()),
		}
		require.NoError(t, d.queue.EnqueueTicket(d.ctx, job))
		require.NoError(t, d.queue.EnqueueTicket(d.ctx, job))
		scheduled, err := d.inspector.ListScheduledTasks(tasks.QueueOperator)
		require.NoError(t, err)
		require.Len(t, scheduled, 1)
		require.Equal(t, d.wake.JobID+"-retry-v3", scheduled[0].ID)
		require.WithinDuration(t, expires.Add(24*time.Hour), scheduled[0].NextProcessAt, 2*time.Second)
		ticket, err := tasks.ParseTicket(scheduled[0].Payload)
		require.NoError(t, err)
		require.Equal(t, d.wake.JobID, ticket.JobID)
		require.EqualValues(t, 3, ticket.Version)
		require.Contains(t, ticket.Summary, "busy")
		require.NotContains(t, ticket.Summary, "\n", "one line")
	})
}

func TestParse_Refuses(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{"", "nonsense", "{}", `{"job":"x"}`, `{"job":"x","attempt":-1,"version":-1}`, strings.Repeat("[", 100)} {
		_, err := tasks.ParseWake([]byte(payload))
		require.Error(t, err, "%q", payload)
		_, err = tasks.ParseTicket([]byte(payload))
		require.Error(t, err, "%q", payload)
	}
}
