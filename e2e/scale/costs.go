package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// costs are the constants of the model: µs of processor time a job, unless the name
// says otherwise. Each says where it is from (see tables.go).
type costs struct {
	API    float64
	Worker float64
	Jobs   float64 // at the masters that hold jobs: submit, claim, finalize
	Queue  float64 // at the master that holds the queue: enqueue, dequeue, done
	Expire float64 // at the masters that hold jobs, later: off the indexes

	Publish  float64 // at every other master, one message of many
	Alone    float64 // the same, of a message that comes by itself
	Messages float64 // published for a job

	SweepRedis, SweepWorker float64 // one idle sweep
	ExpireRate              float64 // jobs a second that one sweeper takes off the indexes
	PollRedis, PollWorker   float64 // one look at an empty queue

	Fsync float64 // µs of waiting, once a group of writes
	Bytes float64 // of memory: a finished job
	Key   float64 // of memory: its key alone
	Log   float64 // of the append-only file: a job

	// Bench names the run of e2e/bench that costs of APIs, workers and Redis are from;
	// empty: they were measured here.
	Bench string
}

// messages are published for a job: submitted, running, succeeded.
const messages = 3

// costs are the constants that were measured. A run of e2e/bench, which is made with
// more rounds, has the last word on what an API and one Redis cost; how the Redis's
// part is shared between jobs and queue only a Cluster shows.
func (m *measured) costs(bench string) (costs, error) {
	c := costs{
		API: m.Single.API, Worker: m.Single.Worker, Expire: m.Sweep.ExpireRedis,
		Publish: m.Publish.There, Alone: m.Publish.Alone, Messages: messages,
		SweepRedis: m.Sweep.IdleRedis, SweepWorker: m.Sweep.IdleWorker, ExpireRate: m.Sweep.ExpirePerSecond,
		PollRedis: m.Poll.Redis, PollWorker: m.Poll.Worker,
		Fsync: m.FsyncMicros, Bytes: m.JobBytes, Key: m.KeyBytes, Log: m.LogBytes,
	}
	redis := m.Single.redis()
	if bench != "" {
		if err := c.fromBench(bench, &redis); err != nil {
			return c, err
		}
	}
	share := m.queueShare()
	c.Queue, c.Jobs = redis*share, redis*(1-share)
	return c, nil
}

// queueShare is the share of one Redis's work that is the queue's: by how much the
// master with the queue has more to do than the others, which have none of it.
func (m *measured) queueShare() float64 {
	others := (m.Cluster.Nodes[1] + m.Cluster.Nodes[2]) / 2
	return min(1, max(0, m.Cluster.Nodes[0]-others)/m.Single.redis())
}

// fromBench takes what a run of e2e/bench says: the API from submissions alone, the
// worker from what serving whole jobs costs beyond them.
func (c *costs) fromBench(path string, redis *float64) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the run of e2e/bench: %w", err)
	}
	var run struct {
		At      string             `json:"at"`
		Medians map[string]float64 `json:"medians"`
	}
	if err := json.Unmarshal(text, &run); err != nil {
		return fmt.Errorf("reading the run of e2e/bench: %w", err)
	}
	figure := func(name string) (value float64) {
		value, ok := run.Medians[name]
		if !ok {
			err = cmp.Or(err, fmt.Errorf("%s has no figure %q: run e2e/bench with -only submit,end-to-end at least", path, name))
		}
		return value
	}
	c.API = figure("submit cpu of server µs")
	c.Worker = figure("end-to-end cpu of server µs") - c.API
	*redis = figure("end-to-end cpu of Redis µs")
	if bytes, ok := run.Medians["finished job bytes beyond input and result"]; ok {
		c.Bytes = bytes
	}
	c.Bench = "`e2e/bench`"
	if day, _, ok := strings.Cut(run.At, "T"); ok {
		c.Bench += ", " + day
	}
	return err
}

func sortedCopy(values []float64) []float64 { return slices.Sorted(slices.Values(values)) }
