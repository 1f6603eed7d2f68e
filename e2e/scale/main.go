package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// settings are what is asked for on the command line.
type settings struct {
	measure  bool
	measured string // file of what was measured
	only     string // names of measurements to make again, separated by commas; empty: all
	bench    string // file of a run of e2e/bench
	write    string // document whose tables are made anew
	duration time.Duration
	rounds   int
}

func main() {
	var s settings
	flag.BoolVar(&s.measure, "measure", false, "measure first, and write the file -measured")
	flag.StringVar(&s.measured, "measured", "e2e/scale/measured.json", "file of what was measured")
	flag.StringVar(&s.only, "only", "", "measure these alone, separated by commas, and keep what the file says of the others")
	flag.StringVar(&s.bench, "bench", "", "file of a run of e2e/bench (-json), for the costs of an API and of a Redis (default: those measured here)")
	flag.StringVar(&s.write, "write", "", "document to write the tables into, between its markers (default: print them)")
	flag.DurationVar(&s.duration, "duration", 5*time.Second, "how long jobs are submitted in one round of a measurement")
	flag.IntVar(&s.rounds, "rounds", 3, "rounds of a measurement; their medians count")
	flag.Parse()
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1) //nolint:forbidigo // this is main
	}
}

func run(s settings) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if s.measure {
		if err := measure(ctx, s); err != nil {
			return err
		}
	}
	seen, err := readMeasured(s.measured)
	if err != nil {
		return err
	}
	costs, err := seen.costs(s.bench)
	if err != nil {
		return err
	}
	text, err := tables(seen, costs)
	if err != nil {
		return err
	}
	if s.write == "" {
		_, err = os.Stdout.WriteString(text)
		return err
	}
	return rewrite(s.write, text)
}
