package app

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/logtest"
	"onejob/roster"
	"onejob/tasks"
)

const onePress = `
drain: 1s
providers: {press: {type: simulated, timeout: 2s, deadline: 5s}}
routes: {print: {providers: [press]}}
`

// TestSchema_WhatIsNewerWaitsForANewerWorker: a job and tasks of a newer onejob stay on
// the queue, uncounted, so that no number of tries ends that; brought to a worker that
// can read it, the job is done.
func TestSchema_WhatIsNewerWaitsForANewerWorker(t *testing.T) {
	t.Parallel()
	cfg := overRedis(t, onePress)
	rdb, err := connection{cfg.Redis}.client()
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	store := jobs.NewStore(rdb, jobs.Options{})
	t.Cleanup(func() { _ = store.Close() })
	s, err := store.Submit(t.Context(), jobs.Submission{Owner: "dev", Key: "k", Fingerprint: "v1:x", Route: "print", Provider: "press", Input: json.RawMessage(`{}`)})
	require.NoError(t, err)
	records, err := rdb.Keys(t.Context(), "*:job:"+s.Job.ID).Result()
	require.NoError(t, err)
	record := records[0]
	require.NoError(t, rdb.HSet(t.Context(), record, "v", jobs.Schema+1).Err())
	client := asynq.NewClientFromRedisClient(rdb)
	for id, task := range map[string]*asynq.Task{
		"payload": asynq.NewTask(tasks.TypeWake, []byte(`{"v":99}`)), "type": asynq.NewTask("attempt:dream", []byte(`{}`)),
		"record": asynq.NewTask(tasks.TypeWake, []byte(`{"job":"`+s.Job.ID+`","attempt":1}`)),
	} {
		_, err := client.EnqueueContext(t.Context(), task, asynq.TaskID(id), asynq.Queue("press"), asynq.MaxRetry(1))
		require.NoError(t, err)
	}

	var log logtest.Buffer
	worker := New(cfg, WithWorker(), WithLog(slog.New(slog.NewTextHandler(&log, nil))))
	require.NoError(t, worker.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, worker.Close()) })
	inspector := asynq.NewInspectorFromRedisClient(rdb)
	for _, id := range []string{"payload", "type", "record"} {
		require.Eventually(t, func() bool {
			info, err := inspector.GetTaskInfo("press", id)
			return err == nil && info.State == asynq.TaskStateRetry && info.Retried == 0
		}, 20*time.Second, 20*time.Millisecond, id)
	}
	require.Contains(t, log.String(), "left to a newer onejob")

	require.NoError(t, rdb.HDel(t.Context(), record, "v").Err()) // a newer worker can read it
	require.Eventually(t, func() bool {
		job, err := store.Get(t.Context(), s.Job.ID)
		return err == nil && job.State == jobs.Succeeded
	}, time.Minute, 50*time.Millisecond)
}

// TestSchema_Follows: a process records with what the deployment is told, as far as it
// can, and says so when it cannot.
func TestSchema_Follows(t *testing.T) {
	t.Parallel()
	cfg := overRedis(t, onePress)
	rdb, err := connection{cfg.Redis}.client()
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	var log logtest.Buffer
	a := New(cfg, WithAPI(), WithDevKeys(), WithLog(slog.New(slog.NewTextHandler(&log, nil))))
	require.NoError(t, a.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	require.Empty(t, a.schema.notes())

	require.NoError(t, rdb.HSet(t.Context(), "oj:meta", "schema", jobs.Schema+1).Err())
	a.followSchema(t.Context())
	require.Contains(t, a.ready(t.Context()).Notes[0], "newer_schema")
	require.True(t, a.ready(t.Context()).Ready)
	require.Contains(t, log.String(), "upgrade it")
	_, err = a.store.Submit(t.Context(), jobs.Submission{Owner: "dev", Key: "k", Fingerprint: "v1:x", Route: "print", Provider: "press", Input: json.RawMessage(`{}`)})
	require.NoError(t, err)
	stored, err := a.store.Schemas(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int{strconv.Itoa(jobs.Schema): 1}, stored)

	require.NoError(t, rdb.HSet(t.Context(), "oj:meta", "schema", "much").Err())
	_, err = a.store.DeploymentSchema(t.Context())
	require.ErrorContains(t, err, "onejob schema set")
	a.followSchema(t.Context()) // as it was
	require.NotEmpty(t, a.schema.notes())
}

// TestSetSchema refuses what a process that is there could not read.
func TestSetSchema(t *testing.T) {
	t.Parallel()
	cfg := overRedis(t, onePress)
	rdb, err := connection{cfg.Redis}.client()
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	ctx, next := t.Context(), jobs.Schema+1
	require.ErrorContains(t, SetSchema(ctx, cfg, next), "this onejob knows the schemas 1 to "+strconv.Itoa(jobs.Schema))
	require.Error(t, SetSchema(ctx, cfg, 0))
	require.NoError(t, SetSchema(ctx, cfg, jobs.Schema))
	require.NoError(t, rdb.HDel(ctx, "oj:meta", "schema").Err())

	others := roster.Roster{Redis: rdb}
	require.NoError(t, others.Write(ctx, roster.Process{ID: "proc_1", Kind: roster.KindWorker, Host: "a", PID: 7, Seen: time.Now()}))
	require.NoError(t, others.Write(ctx, roster.Process{ID: "proc_2", Kind: roster.KindAPI, Schema: next, Seen: time.Now()}))
	err = SetSchema(ctx, cfg, next)
	old, ok := errors.AsType[*TooOld](err)
	require.True(t, ok, "%v", err)
	require.Len(t, old.Processes, 1)
	require.Equal(t, 1, old.Processes[0].Reads, "one that says nothing reads the first")
	require.ErrorContains(t, err, "worker proc_1 on a (pid 7)")
	require.NoError(t, SetSchema(ctx, cfg, 1), "a lower one is always taken")

	found, err := ExamineSchemas(ctx, cfg)
	require.NoError(t, err)
	require.Equal(t, 1, found.Written)
	require.Equal(t, jobs.Schema, found.Reads)
	require.Len(t, found.Processes, 2)
}
