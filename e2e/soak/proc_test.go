package soak_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// resident is the memory of a process, in kB, and its threads.
func resident(pid int) (rss, threads float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		number, _, _ := strings.Cut(strings.TrimSpace(value), " ")
		switch name {
		case "VmRSS":
			rss, err = strconv.ParseFloat(number, 64)
		case "Threads":
			threads, err = strconv.ParseFloat(number, 64)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return rss, threads, nil
}

// openFiles is how many a process has.
func openFiles(pid int) (float64, error) {
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return float64(len(files)), err
}

// processorTime is what a process has used, in steps of 10 ms: fields 14 and 15 of
// proc(5)'s stat.
func processorTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may hold anything
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("%q has too few fields", text)
	}
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond, err
}

// metric is one number of a process's /metrics that has no labels.
func metric(client *http.Client, address, name string) (float64, error) {
	response, err := client.Get("http://" + address + "/metrics")
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	found, value := false, 0.0
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			if value, err = strconv.ParseFloat(text, 64); err != nil {
				return 0, err
			}
			found = true
		}
	}
	if !found {
		return 0, fmt.Errorf("%s tells no %s", address, name)
	}
	return value, nil
}
