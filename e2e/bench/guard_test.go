package main

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLosses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, now ratios
		lost        int
		wrong       string
	}{
		"a quarter less is tolerated":        {ratios{"submit to setnx/s": 0.4}, ratios{"submit to setnx/s": 0.301}, 0, ""},
		"more is not":                        {ratios{"submit to setnx/s": 0.4}, ratios{"submit to setnx/s": 0.299}, 1, ""},
		"a gain is none":                     {ratios{"submit to setnx/s": 0.4}, ratios{"submit to setnx/s": 4}, 0, ""},
		"a cost a third higher is tolerated": {ratios{"submit to setnx cpu µs": 3}, ratios{"submit to setnx cpu µs": 3.99}, 0, ""},
		"a higher one is not":                {ratios{"submit to setnx cpu µs": 3}, ratios{"submit to setnx cpu µs": 4.1}, 1, ""},
		"a cost that fell is a gain":         {ratios{"submit to setnx cpu µs": 3}, ratios{"submit to setnx cpu µs": 1}, 0, ""},
		"one script more is a loss":          {ratios{"submit scripts": 2}, ratios{"submit scripts": 3}, 1, ""},
		"all losses are told":                {ratios{"a/s": 1, "b/s": 1}, ratios{"a/s": 0.1, "b/s": 0.1}, 2, ""},
		"what is missing is no success":      {ratios{"a/s": 1}, ratios{"b/s": 1}, 0, "write the file anew"},
		"an empty file is no success":        {ratios{}, ratios{"b/s": 1}, 0, "no ratios"},
	} {
		lost, err := losses(c.before, sample{ratios: c.now})
		if c.wrong != "" {
			require.ErrorContains(t, err, c.wrong, name)
			continue
		}
		require.NoError(t, err, name)
		require.Len(t, lost, c.lost, name)
	}
}

// Work of others lowers rates, and does little to processor time.
func TestLosses_RatesOnAMachineThatIsShared(t *testing.T) {
	t.Parallel()
	before := ratios{"submit to setnx/s": 0.4, "submit to setnx cpu µs": 3}
	now := ratios{"submit to setnx/s": 0.1, "submit to setnx cpu µs": 5}
	for others, want := range map[float64]int{0: 2, 0.15: 2, 0.2: 1} {
		lost, err := losses(before, sample{ratios: now, others: others})
		require.NoError(t, err)
		require.Len(t, lost, want, others)
		require.Contains(t, lost, "submit to setnx cpu µs")
	}
}

func TestTwice_WhatIsLostOnceIsMeasuredAgain(t *testing.T) {
	t.Parallel()
	before := ratios{"a/s": 1, "b/s": 1}
	measure := func(times *int, each ...ratios) func() (sample, error) {
		return func() (sample, error) {
			*times++
			return sample{ratios: each[*times-1]}, nil
		}
	}
	var times int
	lost, err := twice(before, measure(&times, ratios{"a/s": 1, "b/s": 1}))
	require.NoError(t, err)
	require.Empty(t, lost)
	require.Equal(t, 1, times, "a good one is not repeated")

	times = 0
	lost, err = twice(before, measure(&times, ratios{"a/s": 0.5, "b/s": 1}, ratios{"a/s": 1, "b/s": 0.5}))
	require.NoError(t, err)
	require.Empty(t, lost, "neither was lost both times")

	times = 0
	lost, err = twice(before, measure(&times, ratios{"a/s": 0.5, "b/s": 0.5}, ratios{"a/s": 0.6, "b/s": 1}))
	require.NoError(t, err)
	require.Equal(t, []string{"a/s: was 1.000, is 0.600"}, lost)
}

// A machine on which the file's commit does no better has lost nothing.
func TestLostSince_TheMachineIsNoLoss(t *testing.T) {
	t.Parallel()
	before := guardFile{Commit: "c0ffee", Ratios: ratios{"a/s": 1}}
	measure := func() (sample, error) { return sample{ratios: ratios{"a/s": 0.5}}, nil }
	here := func(value float64) func() (ratios, error) {
		return func() (ratios, error) { return ratios{"a/s": value}, nil }
	}
	lost, err := lostSince(before, measure, here(0.5))
	require.NoError(t, err)
	require.Empty(t, lost)
	lost, err = lostSince(before, measure, here(0.9))
	require.NoError(t, err)
	require.Equal(t, []string{"a/s: was 0.900, is 0.500"}, lost)
	_, err = lostSince(before, measure, func() (ratios, error) { return nil, errors.New("no such commit") })
	require.ErrorContains(t, err, "a/s: was 1.000, is 0.500")
	require.ErrorContains(t, err, "no such commit")
	before.Ratios = ratios{"a/s": 0.5}
	lost, err = lostSince(before, measure, nil) // nobody asks
	require.NoError(t, err)
	require.Empty(t, lost)
}

// The committed file must hold every ratio that the guard measures.
func TestGuardFile_IsWhole(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("guard.json")
	require.NoError(t, err)
	var file guardFile
	require.NoError(t, json.Unmarshal(text, &file))
	require.Len(t, file.Ratios, 2*len(pairs)+len(once))
	for name, value := range file.Ratios {
		require.Positive(t, value, name)
	}
}
