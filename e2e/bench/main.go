package main

import (
	"context"
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
	stored   int           // jobs stored for the scenarios that ask what a full store costs
	json     string        // file for the figures
	guard    string        // file with the figures to hold against
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == floorCommand {
		tell(runFloor(os.Args[2:]))
		return
	}
	var s settings
	flag.DurationVar(&s.duration, "duration", 3*time.Second, "how long a round of a scenario lasts")
	flag.IntVar(&s.rounds, "rounds", 5, "rounds; their medians are reported")
	flag.IntVar(&s.conns, "conns", 32, "connections of the closed loop")
	flag.StringVar(&s.only, "only", "", "scenarios to run, separated by commas (default all)")
	flag.IntVar(&s.stored, "stored", 1_000_000, "jobs to store before a full store is measured")
	flag.StringVar(&s.json, "json", "", "file to write the figures to")
	flag.StringVar(&s.guard, "guard", "", "file with the figures of before: fail when a ratio lost more than a quarter")
	flag.Parse()
	if tell(run(s)) {
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

func run(s settings) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b, err := newBench(ctx, s)
	if err != nil {
		return err
	}
	defer b.close()
	if err := b.measure(ctx); err != nil {
		return err
	}
	return b.report()
}
