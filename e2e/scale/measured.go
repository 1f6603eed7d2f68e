package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// measured is what one machine told: medians of rounds. Times are in µs of processor
// time for one job (or one of what the name says), unless the name says otherwise.
type measured struct {
	At    string `json:"at"`
	Cores int    `json:"cores"`
	Redis string `json:"redis"`

	// One Redis, a Cluster of three masters with one queue, and with three.
	Single whole `json:"single"`
	// Unsynced is what a job costs the one Redis when it syncs once a second: the rest is
	// for its turns, not for the job (see turns).
	Unsynced float64 `json:"unsynced"`

	Cluster whole `json:"cluster"`
	Spread  whole `json:"spread"`

	// Verbs alone, by the store's Go interface: no HTTP, no queue.
	StoreSingle  verbs `json:"store_single"`
	StoreCluster verbs `json:"store_cluster"`

	Publish publish `json:"publish"`
	Sweep   sweep   `json:"sweep"`
	Poll    poll    `json:"poll"`

	// FsyncMicros is how long this disk takes to sync an appended kilobyte.
	FsyncMicros float64 `json:"fsync_micros"`
	// JobBytes is what a finished job takes of Redis's memory, KeyBytes its key alone,
	// LogBytes what a job adds to the append-only file.
	JobBytes float64 `json:"job_bytes"`
	KeyBytes float64 `json:"key_bytes"`
	LogBytes float64 `json:"log_bytes"`
}

// whole is a load from the POST to the end: an API, a worker and what they cost.
type whole struct {
	PerSecond float64   `json:"per_second"` // jobs that ended
	API       float64   `json:"api"`
	Worker    float64   `json:"worker"`
	Load      float64   `json:"load"`  // of the callers, which are on the same cores
	Nodes     []float64 `json:"nodes"` // each Redis; those with queues first
}

// redis is what a job costs all nodes together.
func (w whole) redis() float64 {
	var sum float64
	for _, node := range w.Nodes {
		sum += node
	}
	return sum
}

// turns is the share of one Redis's work that is for its turns: waking up, writing and
// syncing once for all commands that wait.
func (m *measured) turns() float64 {
	return max(0, 1-m.Unsynced/m.Single.redis())
}

// all is what a job costs the machine.
func (w whole) all() float64 { return w.API + w.Worker + w.Load + w.redis() }

// verbs is submit, claim and finalize, one job after the other in many goroutines.
type verbs struct {
	PerSecond float64   `json:"per_second"` // jobs: three verbs each
	Client    float64   `json:"client"`
	Nodes     []float64 `json:"nodes"`
}

func (v verbs) redis() float64 { return whole{Nodes: v.Nodes}.redis() }

// publish is one PUBLISH in a Cluster: what it costs the node that is asked, and each
// of the others, to which it is passed on.
type publish struct {
	Here  float64 `json:"here"`
	There float64 `json:"there"`
	// Alone is what one costs each of the others that comes by itself, not in a group
	// with a thousand more: as they do when little is going on.
	Alone float64 `json:"alone"`
}

// sweep is one idle sweep, and the taking of an expired job off the indexes.
type sweep struct {
	IdleRedis  float64 `json:"idle_redis"`
	IdleWorker float64 `json:"idle_worker"`

	ExpirePerSecond float64 `json:"expire_per_second"` // by one sweeper
	ExpireRedis     float64 `json:"expire_redis"`
	ExpireWorker    float64 `json:"expire_worker"`
}

// poll is one look of a worker at an empty queue, fifty a second.
type poll struct {
	Redis  float64 `json:"redis"`
	Worker float64 `json:"worker"`
}

func readMeasured(path string) (*measured, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading what was measured (-measure makes it): %w", err)
	}
	m := &measured{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return m, nil
}

func (m *measured) write(path string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding what was measured: %w", err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing what was measured: %w", err)
	}
	return nil
}
