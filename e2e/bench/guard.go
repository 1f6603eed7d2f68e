package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// The guard holds ratios against those of a run before. Ratios are of the machine, too,
// though less than times are: what seems lost against the file is lost if the file's
// commit does better on this machine, now. Redis keeps everything in memory for it: how
// slow a disk is would be part of a ratio.

// watched are the scenarios it runs.
var watched = []string{"setnx", "enqueue", "submit", "submit-executing", "replay", "get", "end-to-end"}

// pairs are what is held against a floor, by rate and by processor time.
var pairs = [][2]string{
	{"submit", "setnx"},
	{"submit", "enqueue"},
	{"submit-executing", "enqueue"},
	{"replay", "setnx"},
	{"get", "setnx"},
	{"end-to-end", "enqueue"},
}

const (
	guardRounds = 3
	guardTime   = 600 * time.Millisecond
	// tolerated is the part of a ratio that may be lost: less is noise.
	tolerated = 0.25
	// othersMost is the part of the machine that others may have had: beyond that rates say
	// nothing, and processor time alone is compared.
	othersMost = 0.15
)

// once are what runs a number of scripts that hardly varies: one more is seen at once.
var once = []string{"submit", "replay", "get"}

// ratios are what was measured: rates ("…/s") are to be high, costs low.
type ratios map[string]float64

// sample is one measurement.
type sample struct {
	ratios ratios
	others float64 // the part of the machine that others had meanwhile
}

// guardFile is e2e/bench/guard.json.
type guardFile struct {
	At      string  `json:"at"`
	Commit  string  `json:"commit"`
	Machine machine `json:"machine"`
	Ratios  ratios  `json:"ratios"`
}

// guard measures and compares, or writes the file anew.
func guard(ctx context.Context, s settings) error {
	s.rounds, s.duration, s.keeps, s.only = guardRounds, guardTime, inMemory, strings.Join(watched, ",")
	if s.write {
		return writeGuard(ctx, s)
	}
	before, err := readGuard(s.guard)
	if err != nil {
		return err
	}
	lost, err := lostSince(before,
		func() (sample, error) { return measureRatios(ctx, s) },
		func() (ratios, error) { return ratiosHere(ctx, before.Commit) })
	if err != nil || len(lost) == 0 {
		return err
	}
	return fmt.Errorf("more than %.0f %% was lost, on this machine, too, since %s:\n%s\nIf that is meant: go run ./e2e/bench -guard %s -write, and say why in the commit",
		tolerated*100, before.Commit, strings.Join(lost, "\n"), s.guard)
}

func readGuard(name string) (guardFile, error) {
	var kept guardFile
	text, err := os.ReadFile(name)
	if err != nil {
		return kept, fmt.Errorf("reading the ratios of before: %w", err)
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		return kept, fmt.Errorf("reading the ratios of before in %s: %w", name, err)
	}
	return kept, nil
}

// lostSince returns what was lost against the file and, where anything was, against its
// commit on this machine, which here measures.
func lostSince(before guardFile, measure func() (sample, error), here func() (ratios, error)) ([]string, error) {
	lost, err := twice(before.Ratios, measure)
	if err != nil || len(lost) == 0 {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "is it the machine? having commit %s measure itself here\n", before.Commit)
	then, err := here()
	if err != nil {
		return nil, fmt.Errorf("lost, unless it is the machine, which could not be found out:\n%s\n%w", strings.Join(lost, "\n"), err)
	}
	return twice(then, measure)
}

// twice returns what was lost in a first measurement and, if anything was, in a second,
// too.
func twice(before ratios, measure func() (sample, error)) ([]string, error) {
	var lost map[string]string
	for range 2 {
		now, err := measure()
		if err != nil {
			return nil, err
		}
		again, err := losses(before, now)
		if err != nil {
			return nil, err
		}
		if lost != nil {
			maps.DeleteFunc(again, func(name, _ string) bool { _, before := lost[name]; return !before })
		}
		if lost = again; len(lost) == 0 {
			return nil, nil
		}
		for _, name := range slices.Sorted(maps.Keys(lost)) {
			fmt.Fprintln(os.Stderr, "lost:", lost[name])
		}
	}
	return slices.Sorted(maps.Values(lost)), nil
}

// losses tells, by name, what lost more than is tolerated.
func losses(before ratios, now sample) (map[string]string, error) {
	if len(before) == 0 {
		return nil, errors.New("the file holds no ratios")
	}
	lost := map[string]string{}
	for name, then := range before {
		isRate := strings.HasSuffix(name, "/s")
		if isRate && now.others > othersMost {
			continue
		}
		value, known := now.ratios[name]
		if !known || value <= 0 || then <= 0 {
			return nil, fmt.Errorf("there is no ratio %s to compare: write the file anew", name)
		}
		kept := then / value
		if isRate {
			kept = value / then
		}
		if kept < 1-tolerated {
			lost[name] = fmt.Sprintf("%s: was %.3f, is %.3f", name, then, value)
		}
	}
	return lost, nil
}

func measureRatios(ctx context.Context, s settings) (sample, error) {
	list, err := chosen(s.only)
	if err != nil {
		return sample{}, err
	}
	before, err := effortNow()
	if err != nil {
		return sample{}, err
	}
	f, err := measureOnce(ctx, s, list)
	if err != nil {
		return sample{}, err
	}
	others, err := othersSince(before)
	if others > othersMost {
		fmt.Fprintf(os.Stderr, "others had %.0f %% of the machine: rates say nothing\n", others*100)
	}
	return sample{ratiosOf(f), others}, err
}

// measureOnce ends everything it started before it returns.
func measureOnce(ctx context.Context, s settings, list []scenario) (figures, error) {
	b, err := newBench(ctx, s)
	if err != nil {
		return nil, err
	}
	defer b.close()
	return b.figures, b.measure(ctx, list)
}

func ratiosOf(f figures) ratios {
	all := ratios{}
	for _, pair := range pairs {
		for _, unit := range []string{"/s", " cpu µs"} {
			if value, known := f.ratio(pair[0]+unit, pair[1]+unit); known {
				all[pair[0]+" to "+pair[1]+unit] = value
			}
		}
	}
	for _, name := range once {
		if value, known := f.median(name + " scripts"); known {
			all[name+" scripts"] = value
		}
	}
	return all
}

func writeGuard(ctx context.Context, s settings) error {
	now, err := measureRatios(ctx, s)
	if err != nil {
		return err
	}
	file := guardFile{At: time.Now().UTC().Format(time.DateOnly), Commit: commit(), Machine: thisMachine(), Ratios: now.ratios}
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the ratios: %w", err)
	}
	return writeFile(s.guard, append(text, '\n'))
}
