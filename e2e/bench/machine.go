package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machine is what a run ran on.
type machine struct {
	Processor string  `json:"processor"`
	Cores     int     `json:"cores"`
	MemoryGB  float64 `json:"memory_gb"`
	System    string  `json:"system"`
	Go        string  `json:"go"`
	Redis     string  `json:"redis"`
}

func thisMachine() machine {
	return machine{
		Processor: value("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(), MemoryGB: memoryGB(),
		System: system(), Go: strings.TrimPrefix(runtime.Version(), "go"), Redis: redisVersion(),
	}
}

func (m machine) String() string {
	return fmt.Sprintf("%s, %d cores, %.0f GB of memory; %s; Go %s; Redis %s", m.Processor, m.Cores, m.MemoryGB, m.System, m.Go, m.Redis)
}

// value is the first of a name in a file of names and values.
func value(path, name string) string {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func memoryGB() float64 {
	kb, _ := strconv.ParseFloat(strings.TrimSuffix(value("/proc/meminfo", "MemTotal"), " kB"), 64)
	return kb / (1 << 20)
}

func system() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return runtime.GOOS
	}
	release, _, _ := strings.Cut(unix.ByteSliceToString(u.Release[:]), "-")
	return unix.ByteSliceToString(u.Sysname[:]) + " " + release
}

func redisVersion() string {
	out, _ := exec.Command("redis-server", "--version").Output()
	_, rest, _ := strings.Cut(string(out), "v=")
	version, _, _ := strings.Cut(rest, " ")
	return version
}

// commit is what was measured; with a plus when files differ from it.
func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(out))
	changed, _ := exec.Command("git", "status", "--porcelain", "--untracked-files=no", "--", "*.go", "*.lua", "go.mod").Output()
	if len(changed) > 0 {
		name += "+"
	}
	return name
}
