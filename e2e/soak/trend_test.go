package soak_test

import (
	"fmt"
	"slices"
	"strings"
)

// rule is how much a series may grow from the beginning of the watched time to its
// end: by a share of its own median, and always by so much.
type rule struct {
	share, least float64
}

// rules are those of series, by what follows the process in their names, or by the
// whole name.
var rules = map[string]rule{
	"rss_kb":      {0.15, 12_000},
	"goroutines":  {0.15, 15},
	"threads":     {0.25, 5},
	"fds":         {0.15, 15},
	"cpu_percent": {0.25, 3},

	"store.keys":          {0.05, 200},
	"store.memory_bytes":  {0.10, 2 << 20},
	"store.clients":       {0.20, 10},
	"store.due":           {0.05, 200},
	"store.indexed_open":  {0.50, 20},
	"store.indexed_ended": {0.05, 100},
	"store.processes":     {0, 64}, // kept for an hour, by design: one of each process that was killed
	"store.asynq_servers": {0, 8},
	"store.asynq_workers": {0, 8},
	"store.webhooks":      {0, 0},
	"queue.active":        {0.50, 10},
	"queue.pending":       {0.50, 20},
	"queue.lease":         {0.50, 10},
	"queue.retry":         {0, 5},
	"queue.scheduled":     {0, 5},
	"queue.archived":      {0, 0},
	"queue.completed":     {0, 0},
	"jobs.unfinished":     {0.50, 20},
}

func ruleOf(series string) (rule, bool) {
	if r, ok := rules[series]; ok {
		return r, true
	}
	_, what, _ := strings.Cut(series, ".")
	r, ok := rules[what]
	return r, ok
}

// trend is what became of a series.
type trend struct {
	series         string
	points         int
	median, growth float64 // growth over the watched time, by the median of all slopes
	most           float64
	allowed        float64
}

func (t trend) flat() bool { return t.growth <= t.allowed }

func (t trend) String() string {
	return fmt.Sprintf("%-24s median %12.1f  most %12.1f  growth %+12.1f  allowed %12.1f  (%d points)",
		t.series, t.median, t.most, t.growth, t.allowed, t.points)
}

// least points of a series: with fewer nothing is said of it.
const leastPoints = 30

// trends are those of all series that have a rule, after the warm-up. The slope is
// that of Theil and Sen, the median of those between any two points: a third of the
// points may be anything at all, as they are around a kill, and it hardly moves.
func trends(samples []sample, warm float64) []trend {
	type point struct{ at, value float64 }
	series := map[string][]point{}
	for _, s := range samples {
		if s.Seconds < warm {
			continue
		}
		for name, value := range s.Values {
			series[name] = append(series[name], point{s.Seconds, value})
		}
	}
	var all []trend
	for name, points := range series {
		r, ok := ruleOf(name)
		if !ok || len(points) < leastPoints {
			continue
		}
		var slopes, values []float64
		for i, a := range points {
			values = append(values, a.value)
			for _, b := range points[i+1:] {
				slopes = append(slopes, (b.value-a.value)/(b.at-a.at))
			}
		}
		t := trend{series: name, points: len(points), median: median(values), most: slices.Max(values)}
		t.growth = median(slopes) * (points[len(points)-1].at - points[0].at)
		t.allowed = max(r.least, r.share*t.median)
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b trend) int { return strings.Compare(a.series, b.series) })
	return all
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
