package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// processorTime is what all threads of a process have used, in ns: the first field of
// their schedstat, which is finer than the 10 ms of stat.
func processorTime(pid int) (time.Duration, error) {
	threads, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	if err != nil || len(threads) == 0 {
		return 0, fmt.Errorf("reading the processor time of process %d: not there: %w", pid, err)
	}
	var sum time.Duration
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // a thread that has just ended
		}
		ran, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(ran, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the processor time of process %d: %w", pid, err)
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}

// meter reads several processes at once and tells what they used since.
type meter struct {
	pids   []int
	before []time.Duration
}

func startMeter(pids ...int) (*meter, error) {
	m := &meter{pids: pids}
	before, err := m.read()
	m.before = before
	return m, err
}

func (m *meter) read() ([]time.Duration, error) {
	used := make([]time.Duration, len(m.pids))
	for i, pid := range m.pids {
		var err error
		if used[i], err = processorTime(pid); err != nil {
			return nil, err
		}
	}
	return used, nil
}

// each is what was used for one of n, in µs.
func (m *meter) each(n int) ([]float64, error) {
	after, err := m.read()
	if err != nil {
		return nil, err
	}
	micros := make([]float64, len(after))
	for i := range after {
		micros[i] = float64(after[i]-m.before[i]) / float64(time.Microsecond) / float64(n)
	}
	return micros, nil
}
