package recovery_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/faults"
	"onejob/jobs"
)

// jobsPerCrash is how many jobs are under way when a process dies;
// ONEJOB_E2E_LONG=1 makes it many.
func jobsPerCrash() int {
	if os.Getenv("ONEJOB_E2E_LONG") != "" {
		return 60
	}
	return 3
}

// crashes is how often each of them dies, stops or fails at each point.
func crashes(t *testing.T) int {
	t.Helper()
	given := os.Getenv("ONEJOB_CRASHES")
	if given == "" {
		return 1
	}
	n, err := strconv.Atoi(given)
	require.NoError(t, err, "ONEJOB_CRASHES is how often a process dies at each point")
	return n
}

// whose tells which process gets to a crash point.
func whose(point string) string {
	if point == faults.Submitted || point == faults.Enqueued {
		return "api"
	}
	return "worker"
}

// TestCrash_AtEveryPoint lets a process die, freeze or fail between every two
// steps of a job's way. The provider can be asked and knows what never reached
// it, so every job comes to its result; none is made twice. ONEJOB_CRASHES says how
// often; `make crashes` has 5 times.
func TestCrash_AtEveryPoint(t *testing.T) {
	needs(t)
	for _, point := range faults.Points {
		for _, what := range []string{"kill", "pause", "error"} {
			for i := range crashes(t) {
				t.Run(fmt.Sprintf("%s=%s/%d", point, what, i+1), func(t *testing.T) {
					t.Parallel()
					crashOnce(t, point, what)
				})
			}
		}
	}
}

func crashOnce(t *testing.T, point, what string) {
	t.Helper()
	w := newWorld(t, setting{press: withLookup + ", absent_proves: true", route: "tries: 3, max_attempts: 3, backoff: {initial: 100ms, max: 1s}"})
	if whose(point) == "api" {
		w.crashAPI(point, what)
	} else {
		w.crashWorker(point, what)
	}
	for _, id := range w.jobs {
		w.awaitState(id, jobs.Succeeded)
	}
	w.settled()
}

func (w *world) crashAPI(point, what string) {
	w.t.Helper()
	w.startWorker()
	api := w.startAPI(faulty(point, what))
	answered := make(chan struct{})
	go func() { // the caller who meets the fault gets no answer, and asks again below
		defer close(answered)
		_, _, _ = w.post("key-0", `{"press":"ok"}`)
	}()
	api.awaitWord("fault: " + point)
	switch what {
	case "kill":
		api.awaitEnd(10 * time.Second)
		<-answered
		w.startAPI()
	case "pause":
		api.awaitStopped()
		w.submitElsewhere("key-0")
		api.resume()
		<-answered
	default:
		<-answered
	}
	w.submitMany(jobsPerCrash(), `{"press":"ok"}`)
}

// submitElsewhere sends the same request to another API process.
func (w *world) submitElsewhere(key string) {
	w.t.Helper()
	first := w.api
	other := w.startAPI()
	w.submit(key, `{"press":"ok"}`)
	other.terminate(30 * time.Second)
	w.api = first
}

func (w *world) crashWorker(point, what string) {
	w.t.Helper()
	w.startAPI()
	w.submitMany(jobsPerCrash(), `{"press":"later:300ms"}`)
	worker := w.startWorker(faulty(point, what))
	worker.awaitWord(fmt.Sprintf("fault: %s=%s", point, what))
	switch what {
	case "kill":
		worker.awaitEnd(10 * time.Second)
		w.startWorker()
	case "pause":
		worker.awaitStopped()
		w.startWorker()
		w.pass(5 * time.Second) // longer than the lease
		worker.resume()
	}
}

// pass lets time go by.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.ctx.Done():
		require.Fail(w.t, "the test's time is over")
	}
}
