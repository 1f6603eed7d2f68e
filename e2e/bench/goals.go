package main

import "strings"

// a goal is a bound for one figure, or for its ratio to another of the same run.
type goal struct {
	name  string
	of    string
	to    string // empty: the figure itself
	bound float64
	most  bool // not to be exceeded, instead of reached
}

var goals = []goal{
	{name: "submit to one SET NX", of: "submit/s", to: "setnx/s", bound: 0.45},
	{name: "submit to a bare enqueue", of: "submit/s", to: "enqueue/s", bound: 0.7},
	{name: "submit while executing to a bare enqueue", of: "submit-executing/s", to: "enqueue/s", bound: 0.35},
	{name: "replay to one SET NX", of: "replay/s", to: "setnx/s", bound: 0.75},
	{name: "GET to one SET NX", of: "get/s", to: "setnx/s", bound: 0.75},
	{name: "jobs end to end to a bare enqueue", of: "end-to-end/s", to: "enqueue/s", bound: 0.25},
	{name: "submit to claim, idle, median, ms", of: "idle submit-to-claim p50 ms", bound: 15, most: true},
	{name: "submit to claim at half the highest rate, p99, ms", of: "open intended-to-claim at 50 % p99 ms", bound: 60, most: true},
	{name: "round trips to Redis of one submission", of: "one submission commands", bound: 2, most: true},
	{name: "round trips to Redis of one whole job", of: "one job commands", bound: 6, most: true},
	{name: "bytes of Redis per finished job beyond input and result", of: "finished job bytes beyond input and result", bound: 2500, most: true},
	{name: "CPU of a submission at 1,000,000 stored jobs to 10,000", of: "stored 1000000 submit cpu µs", to: "stored 10000 submit cpu µs", bound: 1.1, most: true},
	{name: "CPU of a list at 1,000,000 stored jobs to 10,000", of: "stored 1000000 list cpu µs", to: "stored 10000 list cpu µs", bound: 1.1, most: true},
}

// verdict is what became of a goal.
type verdict struct {
	Goal  string  `json:"goal"`
	Value float64 `json:"value"`
	Bound float64 `json:"bound"`
	Most  bool    `json:"at_most,omitempty"`
	Met   bool    `json:"met"`
	// Timed is a rate or a wait: on a machine that others use it says nothing.
	Timed bool `json:"timed,omitempty"`
}

func (g goal) timed() bool { return strings.HasSuffix(g.of, "/s") || strings.HasSuffix(g.of, " ms") }

// judge tells of the goals whose figures are known.
func judge(f figures) []verdict {
	var verdicts []verdict
	for _, g := range goals {
		value, known := f.median(g.of)
		if g.to != "" {
			value, known = f.ratio(g.of, g.to)
		}
		if !known {
			continue
		}
		met := value >= g.bound
		if g.most {
			met = value <= g.bound
		}
		verdicts = append(verdicts, verdict{Goal: g.name, Value: value, Bound: g.bound, Most: g.most, Met: met, Timed: g.timed()})
	}
	return verdicts
}
