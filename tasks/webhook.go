package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
)

// TypeWebhook is the type of a task that says "look at this delivery".
const TypeWebhook = "job:webhook"

// Webhook is the payload of a delivery's task: ids only.
type Webhook struct {
	Schema int    `json:"v,omitempty"` // of the payload; none: the first
	JobID  string `json:"job"`
	Number int    `json:"webhook"`
}

// webhookTime is how long asynq may hold a delivery's task before it gives it to
// somebody else: longer than any try, and harmless.
const webhookTime = 10 * time.Minute

// ReadWebhook reads a delivered task. The error is a NewerTask, or ends in asynq.SkipRetry.
func ReadWebhook(task *asynq.Task) (Webhook, error) { return read(task, TypeWebhook, ParseWebhook) }

// ParseWebhook reads the payload of a delivery's task.
func ParseWebhook(payload []byte) (Webhook, error) {
	var w Webhook
	if err := json.Unmarshal(payload, &w); err != nil {
		return Webhook{}, fmt.Errorf("reading the task of a webhook: %w", err)
	}
	if err := readable(TypeWebhook, w.Schema); err != nil {
		return Webhook{}, err
	}
	if w.JobID == "" || w.Number < 1 {
		return Webhook{}, fmt.Errorf("the task of a webhook without a job or a number: %q", payload)
	}
	return w, nil
}

// EnqueueWebhook puts a delivery that is due on the queue of webhooks. handed counts
// how often it was handed out for this try: a second task is put beside the first,
// which may lead nowhere (a conflict of ids says only that a record exists). Two
// that both run do no harm: one takes the turn.
func (q *Queue) EnqueueWebhook(ctx context.Context, w Webhook, handed int) error {
	payload, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("writing the task of a webhook: %w", err)
	}
	id := fmt.Sprintf("%s-h%d", w.JobID, w.Number)
	if handed > 1 {
		id = fmt.Sprintf("%s-w%d", id, handed-1)
	}
	return q.put(ctx, id, asynq.NewTask(TypeWebhook, payload,
		asynq.TaskID(id), asynq.Queue(QueueWebhooks), asynq.MaxRetry(maxRetry), asynq.Timeout(webhookTime)))
}
