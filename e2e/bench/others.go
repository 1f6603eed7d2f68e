package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// What else the machine did while something was measured: it lowers rates, and whoever
// reads them should know.

// effort is the processor time used up to a moment, of all cores together.
type effort struct {
	possible time.Duration // there was so much
	used     time.Duration // by anybody; what a hypervisor gave to other machines is among it
	ours     time.Duration // by this process and those it has waited for
}

func effortNow() (e effort, err error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return e, fmt.Errorf("reading what the machine does: %w", err)
	}
	if e.possible, e.used, err = efforts(string(stat)); err != nil {
		return e, err
	}
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if err := unix.Getrusage(who, &u); err != nil {
			return e, fmt.Errorf("reading what this process did: %w", err)
		}
		e.ours += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return e, nil
}

// efforts reads the first line of /proc/stat (proc_stat(5)), in hundredths of a second:
// user, nice, system, idle, iowait, irq, softirq, steal; what follows is part of these.
func efforts(stat string) (possible, used time.Duration, err error) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	const all, idle, iowait = 8, 3, 4
	if len(fields) < 1+all || fields[0] != "cpu" {
		return 0, 0, fmt.Errorf("reading what the machine does: %q", line)
	}
	for i, field := range fields[1 : 1+all] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("reading what the machine does: %w", err)
		}
		spent := time.Duration(n) * 10 * time.Millisecond
		possible += spent
		if i != idle && i != iowait {
			used += spent
		}
	}
	return possible, used, nil
}

// othersSince is the part of the machine that others had since before, from 0 to 1. All
// processes that were measured must have ended.
func othersSince(before effort) (float64, error) {
	now, err := effortNow()
	if err != nil || now.possible <= before.possible {
		return 0, err
	}
	others := (now.used - before.used) - (now.ours - before.ours)
	return max(0, float64(others)/float64(now.possible-before.possible)), nil
}
