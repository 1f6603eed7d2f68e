package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

// run is what one run gave, and the file of it.
type run struct {
	At       time.Time `json:"at"`
	Took     string    `json:"took"`
	Commit   string    `json:"commit"`
	Machine  machine   `json:"machine"`
	Rounds   int       `json:"rounds"`
	Duration string    `json:"duration"`
	Conns    int       `json:"connections"`
	Others   float64   `json:"others"` // the part of the machine that others had meanwhile
	Goals    []verdict `json:"goals"`
	// Medians are those of Figures.
	Medians map[string]float64 `json:"medians"`
	Figures figures            `json:"figures"`
	Curves  curves             `json:"curves"`
}

func (b *bench) run() *run {
	r := &run{
		At:     time.Now().UTC().Truncate(time.Second),
		Commit: b.commit, Machine: thisMachine(), Rounds: b.rounds, Duration: b.duration.String(), Conns: b.conns,
		Goals: judge(b.figures), Medians: map[string]float64{}, Figures: b.figures, Curves: b.curves,
	}
	for name := range b.figures {
		r.Medians[name], _ = b.figures.median(name)
	}
	return r
}

// print writes every figure, with the least and the most of the rounds, and the goals.
func (r *run) print(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(r.Figures)) {
		values := r.Figures[name]
		_, _ = fmt.Fprintf(w, "%s\t%.5g\t%.5g to %.5g\n", name, r.Medians[name],
			slices.MinFunc(values, cmp.Compare), slices.MaxFunc(values, cmp.Compare))
	}
	_, _ = fmt.Fprintf(w, "\nothers had %.0f %% of the machine\n\n", r.Others*100)
	for _, g := range r.Goals {
		_, _ = fmt.Fprintf(w, "%s\t%.3g\tgoal: %s\t%s\n", g.Goal, g.Value, g.bound(), g.word())
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing the figures: %w", err)
	}
	return nil
}

func (g verdict) bound() string {
	if g.Most {
		return fmt.Sprintf("at most %g", g.Bound)
	}
	return fmt.Sprintf("at least %g", g.Bound)
}

func (g verdict) word() string {
	if g.Met {
		return "reached"
	}
	return "missed"
}

func (r *run) save(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the figures: %w", err)
	}
	return writeFile(path, append(text, '\n'))
}

func readRun(path string) (*run, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the figures: %w", err)
	}
	r := &run{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("reading the figures in %s: %w", path, err)
	}
	return r, nil
}

func writeFile(path string, text []byte) error {
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
