package tasks

import (
	"context"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

func TestEnqueueWebhook(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		q := NewQueue(rdb, func(string) time.Duration { return time.Minute })
		w := Webhook{JobID: "job_1", Number: 3}
		for _, handed := range []int{1, 1, 2} {
			require.NoError(t, q.EnqueueWebhook(ctx, w, handed))
		}
		pending, err := asynq.NewInspectorFromRedisClient(rdb).ListPendingTasks(QueueWebhooks)
		require.NoError(t, err)
		require.Len(t, pending, 2, "handed out again, for the first may lead nowhere")
		ids := []string{pending[0].ID, pending[1].ID}
		require.ElementsMatch(t, []string{"job_1-h3", "job_1-h3-w1"}, ids)
		require.JSONEq(t, `{"job":"job_1","webhook":3}`, string(pending[0].Payload), "ids only")
		got, err := ParseWebhook(pending[0].Payload)
		require.NoError(t, err)
		require.Equal(t, w, got)
	})
}

func TestParseWebhook_RefusesWhatNamesNothing(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{"", "null", "{}", `{"job":"job_1"}`, `{"webhook":1}`, `{"job":"job_1","webhook":-1}`} {
		_, err := ParseWebhook([]byte(payload))
		require.Error(t, err, payload)
	}
}
