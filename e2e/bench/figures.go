package main

import (
	"cmp"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// figures are what the rounds gave, by name; the unit is part of the name.
type figures map[string][]float64

func (f figures) add(name string, value float64) { f[name] = append(f[name], value) }

func (f figures) median(name string) (float64, bool) { return median(f[name]) }

func median(values []float64) (float64, bool) {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0, false
	}
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle], true
	}
	return (sorted[middle-1] + sorted[middle]) / 2, true
}

// ratio is the median of what the rounds gave each: what the machine did meanwhile
// met both. Where there is no such pair it is that of the medians.
func (f figures) ratio(of, to string) (float64, bool) {
	if len(f[of]) != len(f[to]) {
		a, known := f.median(of)
		b, also := f.median(to)
		return a / cmp.Or(b, 1), known && also && b != 0
	}
	var pairs []float64
	for i, to := range f[to] {
		if to == 0 {
			return 0, false
		}
		pairs = append(pairs, f[of][i]/to)
	}
	return median(pairs)
}

// curves are whole distributions of latencies, by name.
type curves map[string][]point

// point says that Percent of the callers waited for at most MS.
type point struct {
	Percent float64 `json:"percent"`
	MS      float64 `json:"ms"`
}

var percents = []float64{10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 92.5, 95, 97, 98, 99, 99.5, 99.7, 99.9}

func (c curves) add(name string, h *hdrhistogram.Histogram) {
	for _, percent := range percents {
		c[name] = append(c[name], point{percent, ms(h, percent)})
	}
}
