package soak_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// plan is how long and how hard a run is.
type plan struct {
	seed             int64
	load             time.Duration // how long callers come
	rate             int           // callers a second
	killEvery        time.Duration
	sampleEvery      time.Duration
	keepJob, keepKey time.Duration
	// warm is how long nothing is expected to be flat: keys rise until the first go.
	warm time.Duration
	// idle is how long an idle process is watched, before the load and after it; 0: not.
	idle time.Duration
}

// trends tells whether the run is long enough for anything to have a trend.
func (p plan) trends() bool { return p.load >= 10*time.Minute }

// planned is the run that the environment asks for: ONEJOB_SOAK is how long, from 10
// minutes on with its trends; without it a run of less than a minute shows that all works.
func planned(t *testing.T) plan {
	t.Helper()
	p := plan{
		seed: whole(t, "ONEJOB_SOAK_SEED", rand.Int64N(1_000_000_000)),
		load: 8 * time.Second, rate: 30, killEvery: 3 * time.Second, sampleEvery: time.Second,
		keepJob: 6 * time.Second, keepKey: 8 * time.Second,
	}
	text := os.Getenv("ONEJOB_SOAK")
	if text != "" {
		var err error
		p.load, err = time.ParseDuration(text)
		require.NoError(t, err, "ONEJOB_SOAK is a duration, such as 30m")
	}
	if p.trends() {
		p.killEvery, p.sampleEvery = 30*time.Second, 5*time.Second
		p.keepJob, p.keepKey = time.Minute, 90*time.Second
		p.warm, p.idle = p.load/6, 30*time.Second
	}
	p.rate = int(whole(t, "ONEJOB_SOAK_RATE", int64(p.rate)))
	require.Positive(t, p.rate, "ONEJOB_SOAK_RATE")
	return p
}

func whole(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err, "%s is a whole number", name)
	return n
}
