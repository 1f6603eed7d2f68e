// Package tasks is what goes through the queues: wake-ups and tickets. A task
// carries ids only and has no authority: what may be done is decided in the
// store when it is delivered, however often, however late (design §4).
package tasks

import (
	"fmt"
	"time"

	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/hibiken/asynq"

	"onejob/jobs"
)

// TypeWake is the type of a wake-up: "look at this attempt".
const TypeWake = "attempt:wake"

// maxRetry is generous, for asynq archives a task of a killed worker once its
// retries are spent, even if it never ran.
const maxRetry = 1000

// Wake is the payload of a wake-up.
type Wake struct {
	Schema  int    `json:"v,omitempty"` // of the payload; none: the first
	JobID   string `json:"job"`
	Attempt int    `json:"attempt"`
}

// ReadWake reads a delivered task. The error is a NewerTask, or ends in asynq.SkipRetry.
func ReadWake(task *asynq.Task) (Wake, error) { return read(task, TypeWake, ParseWake) }

// ParseWake reads the payload of a wake-up.
func ParseWake(payload []byte) (Wake, error) {
	var w Wake
	if err := jsonv1.Unmarshal(payload, &w); err != nil {
		return Wake{}, fmt.Errorf("reading a wake-up: %w", err)
	}
	if err := readable(TypeWake, w.Schema); err != nil {
		return Wake{}, err
	}
	if w.JobID == "" || w.Attempt < 1 {
		return Wake{}, fmt.Errorf("a wake-up without a job or an attempt: %q", payload)
	}
	return w, nil
}

// wakeTask is the wake-up of an attempt; k of them may exist, told apart by id.
// headers are for those who look on; nil: none.
func wakeTask(w jobs.Wake, k int, timeout time.Duration, headers map[string]string) (*asynq.Task, error) {
	payload, err := jsonv1.Marshal(Wake{JobID: w.JobID, Attempt: w.Attempt})
	if err != nil {
		return nil, fmt.Errorf("writing a wake-up: %w", err)
	}
	return asynq.NewTaskWithHeaders(TypeWake, payload, headers,
		asynq.TaskID(wakeID(w, k)), asynq.Queue(w.Provider), asynq.MaxRetry(maxRetry), asynq.Timeout(timeout)), nil
}

// wakeID is the id of an attempt's wake-up; k counts those that were found to
// lead nowhere.
func wakeID(w jobs.Wake, k int) string {
	id := jobs.AttemptID(w.JobID, w.Attempt)
	if k == 0 {
		return id
	}
	return fmt.Sprintf("%s-w%d", id, k)
}
