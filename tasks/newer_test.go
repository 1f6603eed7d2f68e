package tasks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/tasks"
)

// readers read each type of task.
var readers = map[string]func(*asynq.Task) error{
	tasks.TypeWake:    func(task *asynq.Task) error { _, err := tasks.ReadWake(task); return err },
	tasks.TypeTicket:  func(task *asynq.Task) error { _, err := tasks.ReadTicket(task); return err },
	tasks.TypeWebhook: func(task *asynq.Task) error { _, err := tasks.ReadWebhook(task); return err },
}

// What a newer onejob made is left for it; what nobody can read is archived at once.
func TestRead_TellsNewerTasksFromBrokenOnes(t *testing.T) {
	t.Parallel()
	const ids = `"job":"job_1","attempt":1,"version":1,"webhook":1`
	for kind, read := range readers {
		for _, good := range []string{`{` + ids + `}`, fmt.Sprintf(`{"v":%d,%s}`, jobs.Schema, ids), `{"more":true,` + ids + `}`} {
			require.NoError(t, read(asynq.NewTask(kind, []byte(good))), "%s %s", kind, good)
		}
		for _, newer := range []string{fmt.Sprintf(`{"v":%d,%s}`, jobs.Schema+1, ids), fmt.Sprintf(`{"v":%d}`, jobs.Schema+1)} {
			err := read(asynq.NewTask(kind, []byte(newer)))
			require.True(t, tasks.ForNewer(err), "%s %s: %v", kind, newer, err)
			require.NotErrorIs(t, err, asynq.SkipRetry)
			require.ErrorContains(t, err, "newer onejob")
		}
		err := read(asynq.NewTask("attempt:dream", []byte(`{`+ids+`}`)))
		require.True(t, tasks.ForNewer(err), "another type is not taken for %s", kind)
		for _, broken := range []string{"", "nonsense", `{"v":1}`, `{"v":"x"}`} {
			err := read(asynq.NewTask(kind, []byte(broken)))
			require.ErrorIs(t, err, asynq.SkipRetry, "%s %s", kind, broken)
			require.False(t, tasks.ForNewer(err))
		}
	}
	require.True(t, tasks.ForNewer(fmt.Errorf("claiming: %w", &jobs.NewerSchema{JobID: "job_1", Schema: "9"})))
	require.False(t, tasks.ForNewer(&jobs.Refusal{Code: jobs.CodeNotFound}))
	require.False(t, tasks.ForNewer(nil))
}

// The payloads of today carry no schema: they are those of the first.
func TestRead_TheFirstSchemaIsNotSpeltOut(t *testing.T) {
	t.Parallel()
	for _, payload := range []any{tasks.Wake{JobID: "j", Attempt: 1}, tasks.Ticket{JobID: "j", Version: 1}, tasks.Webhook{JobID: "j", Number: 1}} {
		b, err := json.Marshal(payload)
		require.NoError(t, err)
		require.NotContains(t, string(b), `"v"`)
	}
}

func TestLeft_TellsOnceAMinute(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var left tasks.Left
	why := &tasks.NewerTask{Type: tasks.TypeWake, Schema: 9}
	handler := left.Around(slog.New(slog.NewTextHandler(&log, nil)), asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		if task.Type() == "broken" {
			return errors.New("broken")
		}
		return why
	}))
	for range 5 {
		require.ErrorIs(t, handler.ProcessTask(t.Context(), asynq.NewTask(tasks.TypeWake, nil)), why)
		require.Error(t, handler.ProcessTask(t.Context(), asynq.NewTask("broken", nil)))
	}
	require.Equal(t, 1, strings.Count(log.String(), "left to a newer onejob"), log.String())
	require.Contains(t, log.String(), "schema 9")
}
