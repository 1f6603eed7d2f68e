package main

import "fmt"

// charts are the drawings of a run, by the names of their files.
func (r *run) charts() map[string]string {
	return map[string]string{
		"rates.svg":   r.rateChart(),
		"costs.svg":   r.costChart("Processor time a call", callRows),
		"stored.svg":  r.costChart("Processor time a call, by stored jobs", r.storedRows()),
		"latency.svg": r.latencyChart(),
	}
}

// row names a scenario of the closed loop for people.
type row struct {
	scenario, label string
	floor           bool
}

var callRows = []row{
	{"echo", "Echo alone", true},
	{"setnx", "Echo + one SET NX", true},
	{"enqueue", "Echo + asynq enqueue", true},
	{"worked", "asynq task, end to end", true},
	{"submit", "submit", false},
	{"submit-executing", "submit, executing", false},
	{"replay", "replay", false},
	{"get", "GET", false},
	{"end-to-end", "job, end to end", false},
}

func (r *run) rateChart() string {
	c := bars{title: "Calls a second", subtitle: fmt.Sprintf("%d connections; server, Redis and loader on %d cores; grey: the floors", r.Conns, r.Machine.Cores)}
	for _, row := range callRows {
		rate := r.Medians[row.scenario+"/s"]
		c.rows = append(c.rows, bar{label: row.label, values: []float64{rate}, told: whole1000(rate), floor: row.floor})
	}
	return c.draw()
}

func (r *run) costChart(title string, rows []row) string {
	c := bars{title: title, subtitle: "in microseconds; the loader's is left out", parts: []string{"the server", "Redis"}}
	for _, row := range rows {
		server, redis := r.Medians[row.scenario+" cpu of server µs"], r.Medians[row.scenario+" cpu of Redis µs"]
		c.rows = append(c.rows, bar{label: row.label, values: []float64{server, redis}, told: fmt.Sprintf("%.0f + %.0f µs", server, redis)})
	}
	return c.draw()
}

func (r *run) storedRows() []row {
	var rows []row
	for _, call := range []string{"submit", "list"} {
		for _, size := range r.sizes() {
			rows = append(rows, row{storedName(size) + call, fmt.Sprintf("%s at %s", call, whole1000(float64(size))), false})
		}
	}
	return rows
}

func (r *run) latencyChart() string {
	return tail{
		title:    "How long callers wait, at half the highest rate",
		subtitle: "open loop, from the moment a request was to be sent; the part of callers that wait no longer",
		names:    curveNames, curves: r.Curves,
	}.draw()
}
