package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
)

// figures are what the rounds gave, by name; the unit is part of the name.
type figures map[string][]float64

func (f figures) add(name string, value float64) { f[name] = append(f[name], value) }

func (f figures) median(name string) (float64, bool) {
	values := slices.Sorted(slices.Values(f[name]))
	if len(values) == 0 {
		return 0, false
	}
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle], true
	}
	return (values[middle-1] + values[middle]) / 2, true
}

// a ratio holds one figure against another of the same run.
type ratio struct {
	of, to string
	goal   float64
	most   bool // the goal is not to be exceeded, instead of reached
}

func (r ratio) name() string { return r.of + " / " + r.to }

// met tells the ratio of the medians and whether it is as good as it is to be.
func (r ratio) met(f figures) (value float64, met, known bool) {
	of, ok := f.median(r.of)
	to, also := f.median(r.to)
	if !ok || !also || to == 0 {
		return 0, false, false
	}
	value = of / to
	if r.most {
		return value, value <= r.goal, true
	}
	return value, value >= r.goal, true
}

// saved is the file of a run.
type saved struct {
	Medians map[string]float64   `json:"medians"`
	Rounds  map[string][]float64 `json:"rounds"`
	Ratios  map[string]float64   `json:"ratios"`
}

func (b *bench) report() error {
	out := saved{Medians: map[string]float64{}, Rounds: b.figures, Ratios: map[string]float64{}}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(b.figures)) {
		median, _ := b.figures.median(name)
		out.Medians[name] = median
		_, _ = fmt.Fprintf(w, "%s\t%.5g\t%s\n", name, median, spread(b.figures[name]))
	}
	_, _ = fmt.Fprintln(w)
	for _, r := range ratios {
		if value, met, known := r.met(b.figures); known {
			out.Ratios[r.name()] = value
			_, _ = fmt.Fprintf(w, "%s\t%.3f\tgoal %g\t%s\n", r.name(), value, r.goal, map[bool]string{true: "met", false: "missed"}[met])
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing the figures: %w", err)
	}
	if b.json != "" {
		text, err := json.MarshalIndent(out, "", "  ")
		if err != nil {
			return fmt.Errorf("encoding the figures: %w", err)
		}
		if err := os.WriteFile(b.json, append(text, '\n'), 0o600); err != nil {
			return fmt.Errorf("writing the figures: %w", err)
		}
	}
	return nil
}

// spread is the least and the most of the rounds.
func spread(values []float64) string {
	return fmt.Sprintf("%.5g to %.5g", slices.MinFunc(values, cmp.Compare), slices.MaxFunc(values, cmp.Compare))
}
