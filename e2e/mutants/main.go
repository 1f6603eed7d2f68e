// Command mutants takes rules out of onejob, one at a time, and sees whether the
// tests notice.
//
//	go run ./e2e/mutants e2e/mutants/slot.patch
//
// A mutant is a small patch of one file. Its head says what is taken out and which
// test is to notice, as go test is told it:
//
//	# rule: a taken slot lets nobody in
//	# test: ./jobs -run TestGuards
//
// For each: the tests named must pass as things are, the patch must fit, what it
// makes must compile, and then a test must fail: the mutant is killed. Nothing in the
// tree is written; go builds the mutant through an overlay.
//
// It ends with 0 when every mutant was killed, with 1 when one lives on, and with 3
// when one could not be tried.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

// Exit codes.
const (
	killed   = 0
	survived = 1
	unusable = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout)
	stop()
	os.Exit(code) //nolint:forbidigo // this is main
}

// run tries the mutants in these files and says what became of each, one a line.
func run(ctx context.Context, files []string, out io.Writer) int {
	if len(files) == 0 {
		_, _ = fmt.Fprintln(out, "name the patches: go run ./e2e/mutants e2e/mutants/*.patch")
		return unusable
	}
	worst, dead := killed, 0
	for _, file := range files {
		if ctx.Err() != nil {
			return unusable
		}
		began := time.Now()
		m, err := read(file)
		by := ""
		if err == nil {
			by, err = m.try(ctx, ".")
		}
		switch {
		case err != nil:
			worst = unusable
			_, _ = fmt.Fprintf(out, "UNUSABLE  %s: %v\n", name(file), err)
		case by == "":
			worst = max(worst, survived)
			_, _ = fmt.Fprintf(out, "SURVIVED  %-34s %s: no test of `%s` failed\n", m.name, m.rule, m.test)
		default:
			dead++
			_, _ = fmt.Fprintf(out, "killed    %-34s %5.1fs  by %s\n", m.name, time.Since(began).Seconds(), by)
		}
	}
	if len(files) > 1 {
		_, _ = fmt.Fprintf(out, "%d of %d mutants killed\n", dead, len(files))
	}
	return worst
}
