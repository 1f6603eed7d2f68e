package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// tables are the parts of the page that are made, by the names in its marks.
var tables = map[string]func(*run) string{
	"machine":  (*run).machineTable,
	"goals":    (*run).goalTable,
	"rates":    (*run).rateTable,
	"open":     (*run).openTable,
	"stored":   (*run).storedTable,
	"memory":   (*run).memoryTable,
	"idle":     (*run).idleTable,
	"everysec": (*run).syncTable,
	"scripts":  (*run).scriptTable,
	"layers":   (*run).layerTable,
}

// whole1000 is a number without a fraction, its thousands apart.
func whole1000(v float64) string {
	digits := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// short has two or three digits that mean something.
func short(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return whole1000(v)
	}
}

// grid is a table of Markdown.
type grid struct{ strings.Builder }

func newGrid(heads ...string) *grid {
	g := &grid{}
	g.row(heads...)
	rule := make([]string, len(heads))
	for i := range rule {
		rule[i] = "---:"
	}
	rule[0] = "---"
	g.row(rule...)
	return g
}

func (g *grid) row(cells ...string) {
	g.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func (r *run) machineTable() string {
	warning := ""
	if r.Others > othersMost {
		warning = "**Rates and waits of this run are worth nothing: others had most of what they needed. Run it again on a quiet machine.** "
	}
	return warning + fmt.Sprintf("%s; commit %s; %s; rounds of %s each: %d; %d connections; the whole run took %s, in which others had %.0f %% of the machine.",
		r.Machine, r.Commit, r.At.Format("2 January 2006"), r.Duration, r.Rounds, r.Conns, r.Took, r.Others*100)
}

func (r *run) goalTable() string {
	g := newGrid("", "measured", "goal", "")
	for _, v := range r.Goals {
		word := "reached"
		switch {
		case v.Timed && r.Others > othersMost:
			word = "not judged: others had the machine"
		case !v.Met:
			word = "**missed**"
		}
		g.row(v.Goal, short(v.Value), v.bound(), word)
	}
	return g.String()
}

func (r *run) rateTable() string {
	g := newGrid("", "a second", "to SET NX", "to enqueue", "p50 ms", "p99 ms", "server µs", "Redis µs", "scripts")
	for _, row := range callRows {
		of := func(what string) string { return r.told(row.scenario + what) }
		ratio := func(to string) string {
			v, known := r.Figures.ratio(row.scenario+"/s", to+"/s")
			if !known {
				return ""
			}
			return strconv.FormatFloat(v, 'f', 2, 64)
		}
		g.row(row.label, whole1000(r.Medians[row.scenario+"/s"]), ratio("setnx"), ratio("enqueue"),
			r.toldIn(row.scenario+" p50 µs", 1000), r.toldIn(row.scenario+" p99 µs", 1000),
			of(" cpu of server µs"), of(" cpu of Redis µs"), of(" scripts"))
	}
	return g.String()
}

// told is the median of a figure; empty where there is none.
func (r *run) told(name string) string { return r.toldIn(name, 1) }

func (r *run) toldIn(name string, unit float64) string {
	v, known := r.Figures.median(name)
	if !known {
		return ""
	}
	return short(v / unit)
}

func (r *run) openTable() string {
	heads := []string{"p50 / p99, ms", "idle, one at a time"}
	rates := []string{"jobs a second", ""}
	for _, share := range shares {
		heads = append(heads, fmt.Sprintf("%.0f %%", share*100))
		rates = append(rates, r.told("open"+openAt(share)+"jobs/s"))
	}
	g := newGrid(heads...)
	g.row(rates...)
	for _, line := range [][3]string{
		{"POST answered, from when it was to be sent", "", "open POST"},
		{"claimed, from its record", "idle submit-to-claim", "open submit-to-claim"},
		{"claimed, from when it was to be sent", "", "open intended-to-claim"},
		{"succeeded, from when it was to be sent", "idle submit-to-succeeded", "open intended-to-succeeded"},
	} {
		cells := []string{line[0], r.two(line[1] + " ")}
		for _, share := range shares {
			cells = append(cells, r.two(line[2]+openAt(share)))
		}
		g.row(cells...)
	}
	return g.String()
}

// two is the median and the 99th percentile of a latency.
func (r *run) two(name string) string {
	p50, p99 := r.told(name+"p50 ms"), r.told(name+"p99 ms")
	if p50 == "" {
		return ""
	}
	return p50 + " / " + p99
}

// sizes are those of the stores of a run.
func (r *run) sizes() []int {
	var sizes []int
	for size := 1; size <= 100_000_000; size *= 10 {
		if _, known := r.Figures[storedName(size)+"fill/s"]; known {
			sizes = append(sizes, size)
		}
	}
	return sizes
}

func (r *run) storedTable() string {
	g := newGrid("stored jobs", "submit/s", "server µs", "Redis µs", "list/s", "server µs", "Redis µs")
	for _, size := range r.sizes() {
		cells := []string{whole1000(float64(size))}
		for _, call := range []string{"submit", "list"} {
			name := storedName(size) + call
			cells = append(cells, r.told(name+"/s"), r.told(name+" cpu of server µs"), r.told(name+" cpu of Redis µs"))
		}
		g.row(cells...)
	}
	return g.String()
}

func (r *run) memoryTable() string {
	g := newGrid("bytes of Redis a job", "")
	for _, row := range [][2]string{
		{"waiting to be claimed, the wake-up included", "open job bytes"},
		{"finished", "finished job bytes"},
		{"of that: the record, input, result and trail included", "finished job bytes: job"},
		{"of that: the idempotency key", "finished job bytes: key"},
		{"of that: indexes, the reminder of its expiry, Redis's own tables", "finished job bytes: indexes"},
		{"of that: what it was given and gave back", "finished job bytes: input and result"},
		{"beyond that", "finished job bytes beyond input and result"},
	} {
		g.row(row[0], r.told(row[1]))
	}
	return g.String()
}

func (r *run) idleTable() string {
	g := newGrid("", "ms of a core a second", "round trips a second")
	for _, name := range []string{"api", "worker", "Redis"} {
		g.row(name, r.told("idle cpu of "+name+" ms/s"), r.told("idle round trips of "+name+"/s"))
	}
	return g.String()
}

func (r *run) syncTable() string {
	g := newGrid("a second", "`appendfsync always`", "`everysec`", "the first to the second")
	for _, row := range callRows {
		if _, known := r.Figures[row.scenario+"-everysec/s"]; !known {
			continue
		}
		ratio, _ := r.Figures.ratio(row.scenario+"/s", row.scenario+"-everysec/s")
		g.row(row.label, r.told(row.scenario+"/s"), r.told(row.scenario+"-everysec/s"), strconv.FormatFloat(ratio, 'f', 2, 64))
	}
	return g.String()
}

func (r *run) scriptTable() string {
	g := newGrid("script", "µs of Redis's one thread")
	for _, verb := range []string{"submit", "claim", "finalize", "get"} {
		g.row("`"+verb+"`", r.told("script "+verb+" µs"))
	}
	return g.String()
}

func (r *run) layerTable() string {
	g := newGrid("a call", "µs", "more than the line above")
	var above float64
	for _, line := range [][2]string{
		{"HTTP: Echo reads a body and answers", "echo"},
		{"… and one key is reserved in Redis", "setnx"},
		{"… strictly read, canonical, authorised, recorded as a job, and its wake-up queued", "submit"},
		{"… and woken, claimed, called, judged, finalized", "end-to-end"},
	} {
		cost := r.Medians[line[1]+" cpu µs"]
		g.row(line[0], short(cost), short(cost-above))
		above = cost
	}
	return g.String()
}
