package recovery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/faults"
	"onejob/jobs"
)

// TestWorker_KilledIsNoticed is the promise with the times as they are by default:
// within 20 s the attempt is unknown, and it is never sent again; here the
// provider can be asked, and settles it.
func TestWorker_KilledIsNoticed(t *testing.T) {
	needs(t)
	w := newWorld(t, setting{lease: "15s", beat: "5s", times: "timeout: 30s, deadline: 60s", press: withLookup})
	w.startAPI()
	killed := w.startWorker()
	id := w.submit("key", `{"press":"hang"}`)
	within(t, 30*time.Second, "the call has left", func() bool { return len(w.entries("create")) == 1 })
	w.startWorker()
	w.pass(16 * time.Second) // until the new one may suspect anybody
	killed.kill()

	began := time.Now()
	unknown := w.await(id, "noticed in 20 s", 20*time.Second, func(j *jobs.Job) bool { return j.State == jobs.Unknown })
	t.Logf("noticed after %v", time.Since(began).Round(time.Millisecond))
	require.Equal(t, "worker_lost", unknown.Attempts[0].Reason)
	require.NotNil(t, unknown.BlockedBy)
	require.False(t, unknown.Next.Allowed)

	w.lookupsSay(attemptID(id, 1), "succeeded")
	done := w.awaitState(id, jobs.Succeeded)
	require.Equal(t, 1, done.CompletedBy)
	w.settled()
	require.Len(t, w.entries("create"), 1)
}

// TestWorker_FrozenBetweenClaimAndSend: it wakes after its lease and does not call.
// Where nobody else was there to suspect it, its first beat may come before that and
// find the attempt as it was: then it calls, once, under a lease that holds.
func TestWorker_FrozenBetweenClaimAndSend(t *testing.T) {
	needs(t)
	for _, point := range []string{faults.Claimed, faults.Leaving} {
		for _, others := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s, %d others", point, others), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, setting{route: "tries: 1"})
				w.startAPI()
				frozen := w.startWorker(faulty(point, "pause"))
				id := w.submit("key", `{"press":"ok"}`)
				frozen.awaitStopped()
				for range others {
					w.startWorker()
				}
				w.pass(5 * time.Second)
				frozen.resume()
				ended := w.await(id, "job has ended", time.Minute, func(j *jobs.Job) bool { return j.State.Ended() })
				w.settled()
				if others == 0 && ended.State == jobs.Succeeded {
					require.Len(t, w.creates(), 1)
					return
				}
				require.Equal(t, jobs.Failed, ended.State)
				require.Equal(t, "not_sent", ended.Attempts[0].Reason)
				require.Equal(t, "none", ended.Attempts[0].Effect)
				require.Empty(t, w.creates())
			})
		}
	}
}

// TestWorker_FrozenDuringCall: the world goes on without it, and what it heard is
// taken if it still counts, and recorded if not.
func TestWorker_FrozenDuringCall(t *testing.T) {
	needs(t)
	w := newWorld(t, setting{times: "timeout: 5s, deadline: 30s"})
	w.startAPI()
	frozen := w.startWorker()
	w.startWorker()
	taken := map[string]string{}
	for i := range 6 {
		key := fmt.Sprintf("key-%d", i)
		taken[key] = w.submit(key, `{"press":"later:2s"}`)
	}
	for _, id := range taken {
		w.awaitState(id, jobs.Running)
	}
	frozen.stop()
	for _, id := range taken {
		w.await(id, "settled or suspected", 30*time.Second, atRest)
	}
	cancelled := 0
	for key, id := range taken {
		if w.job(id).State == jobs.Unknown {
			require.Equal(t, "worker_lost", w.job(id).Attempts[0].Reason)
			if cancelled == 0 {
				w.ask(id, "/cancel", `{"reason":"no longer wanted"}`)
				cancelled++
				w.jobs[key] = id
			}
		}
	}
	frozen.resume()
	for _, id := range taken {
		job := w.await(id, "ended", 30*time.Second, func(j *jobs.Job) bool { return j.State.Ended() })
		if job.State == jobs.Cancelled {
			w.await(id, "the late result is recorded", 30*time.Second, func(j *jobs.Job) bool { return j.Attempts[0].LateResult != nil })
		}
	}
	w.settled()
}

func TestWorker_TerminatedDrains(t *testing.T) {
	needs(t)
	w := newWorld(t, setting{drain: "4s", times: "timeout: 20s, deadline: 40s"})
	w.startAPI()
	worker := w.startWorker()
	short, long := w.submit("short", `{"press":"later:2s"}`), w.submit("long", `{"press":"hang"}`)
	w.awaitState(short, jobs.Running)
	w.awaitState(long, jobs.Running)
	took := worker.terminate(15 * time.Second)
	require.Less(t, took, 7*time.Second, "drain is 4 s")
	require.Equal(t, 0, worker.cmd.ProcessState.ExitCode(), worker.tail())

	require.Equal(t, jobs.Succeeded, w.job(short).State, "a call that ends in the drain is heard")
	unknown := w.job(long)
	require.Equal(t, jobs.Unknown, unknown.State, "marked before the end, not noticed after it")
	require.Equal(t, "worker_stopped", unknown.Attempts[0].Reason)
	w.settled()
}

// TestWorker_RollingDeploy replaces the workers one by one under load: nothing is
// lost, nothing unknown, nothing done twice.
func TestWorker_RollingDeploy(t *testing.T) {
	needs(t)
	w := newWorld(t, setting{drain: "6s", times: "timeout: 5s, deadline: 6s"})
	w.startAPI()
	workers := []*process{w.startWorker(), w.startWorker()}
	submitted := make(chan string, 200)
	stop := make(chan struct{})
	go func() {
		defer close(submitted)
		for i := range 200 {
			key := fmt.Sprintf("key-%d", i)
			if status, _, err := w.post(key, `{"press":"later:300ms"}`); err == nil && status < 300 {
				submitted <- key
			}
			select {
			case <-stop:
				return
			case <-time.After(40 * time.Millisecond):
			}
		}
	}()
	for i := range workers {
		fresh := w.startWorker()
		workers[i].terminate(20 * time.Second)
		require.Equal(t, 0, workers[i].cmd.ProcessState.ExitCode(), workers[i].tail())
		workers[i] = fresh
	}
	close(stop)
	for key := range submitted {
		w.submit(key, `{"press":"later:300ms"}`) // the id; it is the same job
	}
	require.NotEmpty(t, w.jobs)
	for _, id := range w.jobs {
		job := w.awaitState(id, jobs.Succeeded)
		require.Len(t, job.Attempts, 1)
		require.NotContains(t, w.verbs(id), "suspect")
	}
	w.settled()
}
