package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the processor time a process has used, by the kernel's own clock of
// it. Unlike a rate it hardly depends on what else the machine does.
func cpuTime(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED of linux/posix-timers.h: the clock of all threads
	var at unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &at); err != nil {
		return 0, fmt.Errorf("reading the processor time of process %d: %w", pid, err)
	}
	return time.Duration(at.Nano()), nil
}
