package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// cpuTime is the processor time a process has used, in steps of 10 ms. Unlike a
// rate it hardly depends on what else the machine does.
func cpuTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, fmt.Errorf("reading processor time: %w", err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may hold anything
	fields := strings.Fields(rest)
	const userTime, systemTime, perSecond = 11, 12, 100
	if len(fields) <= systemTime {
		return 0, fmt.Errorf("reading processor time: %q", stat)
	}
	user, err := strconv.ParseInt(fields[userTime], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading processor time: %w", err)
	}
	system, err := strconv.ParseInt(fields[systemTime], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading processor time: %w", err)
	}
	return time.Duration(user+system) * time.Second / perSecond, nil
}

// usage is what Redis and a server have used up to a moment.
type usage struct {
	commands      int64
	redis, server time.Duration
}
