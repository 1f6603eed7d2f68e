package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// settings are how long and how hard is measured.
type settings struct {
	duration time.Duration // of one round of one scenario
	rounds   int           // the median of so many is reported
	conns    int           // of the closed loop
	only     string        // names of the scenarios to run, separated by commas; empty: all
	stored   int           // jobs stored in the largest of the full stores
	json     string        // file for the figures
	guard    string        // file with the ratios to hold against
	write    bool          // the figures of the repository
	render   bool          // only the page and its charts, from the figures of the repository
	keeps    []string      // how the store keeps what it acknowledges
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == floorCommand {
		tell(runFloor(os.Args[2:]))
		return
	}
	s := settings{keeps: synced}
	flag.DurationVar(&s.duration, "duration", 2*time.Second, "how long a round of a scenario lasts")
	flag.IntVar(&s.rounds, "rounds", 5, "rounds; their medians are reported")
	flag.IntVar(&s.conns, "conns", 32, "connections of the closed loop")
	flag.StringVar(&s.only, "only", "", "scenarios to run, separated by commas (default all)")
	flag.IntVar(&s.stored, "stored", 1_000_000, "jobs in the largest store of the scenario stored")
	flag.StringVar(&s.json, "json", "", "file to write the figures to")
	flag.StringVar(&s.guard, "guard", "", "file with the ratios of before: measure them in two minutes, and fail when one lost more than a quarter; with -write, write the file instead")
	flag.BoolVar(&s.write, "write", false, "write "+latestFile+", and the tables and charts of "+pageFile)
	flag.BoolVar(&s.render, "render", false, "measure nothing: write the tables and charts again from "+latestFile)
	flag.Parse()
	if tell(do(s)) {
		os.Exit(1) //nolint:forbidigo // this is main
	}
}

// tell says what went wrong, and whether anything did.
func tell(err error) bool {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	return err != nil
}

func do(s settings) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch {
	case s.render:
		return again()
	case s.guard != "":
		return guard(ctx, s)
	case s.write && s.only != "":
		return errors.New("-write is of a whole run: leave out -only")
	}
	return whole(ctx, s)
}

// again writes what is made of the latest figures; goals may have changed since.
func again() error {
	r, err := readRun(latestFile)
	if err != nil {
		return err
	}
	r.Goals = judge(r.Figures)
	if err := r.save(latestFile); err != nil {
		return err
	}
	return r.render()
}

// whole measures everything that was chosen, and prints and writes it.
func whole(ctx context.Context, s settings) error {
	began := time.Now()
	list, err := chosen(s.only)
	if err != nil {
		return err
	}
	r, err := measureAll(ctx, s, list)
	if err != nil {
		return err
	}
	r.Took = time.Since(began).Round(time.Second).String()
	if err := r.print(os.Stdout); err != nil {
		return err
	}
	if s.json != "" {
		if err := r.save(s.json); err != nil {
			return err
		}
	}
	if !s.write {
		return nil
	}
	if err := r.save(latestFile); err != nil {
		return err
	}
	return r.render()
}

// measureAll ends everything it started, and sees what else the machine did.
func measureAll(ctx context.Context, s settings, list []scenario) (*run, error) {
	before, err := effortNow()
	if err != nil {
		return nil, err
	}
	b, err := newBench(ctx, s)
	if err != nil {
		return nil, err
	}
	err = b.measure(ctx, list)
	b.close()
	if err != nil {
		return nil, err
	}
	r := b.run()
	r.Others, err = othersSince(before)
	return r, err
}
