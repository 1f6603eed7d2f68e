package soak_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
	"onejob/jobs"
	"onejob/redistest"
)

// TestSoak: under a steady load and kill after kill every job ends, none is done
// twice, nothing grows, and when it is over nothing is left.
func TestSoak(t *testing.T) { //nolint:paralleltest // it wants the machine to itself
	if testing.Short() {
		t.Skip("starts processes")
	}
	redistest.Require(t)
	p := planned(t)
	t.Logf("seed %d, %v at %d a second; again: make soak SOAK=%v SEED=%d RATE=%d", p.seed, p.load, p.rate, p.load, p.seed, p.rate)
	w := newWorld(t, p)
	l := &load{states: map[jobs.State]int{}}
	s := &sampler{w: w, load: l, used: map[string]spent{}, out: w.outFile()}
	idleBefore := w.idle()

	ctx, cancel := context.WithTimeout(t.Context(), p.load+5*time.Minute)
	defer cancel()
	beside, stop := context.WithCancel(ctx)
	var around sync.WaitGroup
	s.began = time.Now()
	around.Go(func() { s.run(beside) })
	around.Go(func() { w.killAll(beside) })
	for _, base := range w.callers {
		around.Go(func() { w.operate(beside, "http://"+base) })
	}
	w.submitAll(ctx, l)
	stop()
	around.Wait()

	w.verdict(l)
	if p.trends() {
		w.flat(s.samples)
	}
	w.nothingLeft(ctx)
	for name, after := range w.idle() {
		t.Logf("%s, idle: %.1f %% of a core before the load, %.1f %% after it", name, idleBefore[name], after)
		assert.LessOrEqual(t, after, 2*idleBefore[name]+3, "%s costs more when idle than before the load", name)
	}
	fsck := exec.Command(program.Onejob(t), "fsck", "--config", w.config)
	fsck.Env = append(os.Environ(), "SOAK_ADMIN=127.0.0.1:1") // it serves nothing
	out, err := fsck.CombinedOutput()
	require.NoError(t, err, "I11: %s", out)
}

func (w *world) outFile() *os.File {
	w.t.Helper()
	path := os.Getenv("ONEJOB_SOAK_OUT")
	if path == "" {
		return nil
	}
	out, err := os.Create(path)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { assert.NoError(w.t, out.Close()) })
	return out
}

// killAll kills one of the victims at every tick, by the dice, and starts it again
// within two seconds.
func (w *world) killAll(ctx context.Context) {
	dice := rand.New(rand.NewPCG(uint64(w.plan.seed), 1))
	ticker := time.NewTicker(w.plan.killEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		victim, away := w.victims[dice.IntN(len(w.victims))], time.Duration(dice.IntN(2000))*time.Millisecond
		assert.NoError(w.t, victim.kill(), victim.name)
		<-time.After(away)
		assert.NoError(w.t, victim.start(), victim.name)
		w.killed[victim.name]++
	}
}

// verdict: every job ended, none twice.
func (w *world) verdict(l *load) {
	w.t.Helper()
	response, err := w.http.Get("http://" + w.at + "/ledger")
	require.NoError(w.t, err)
	var seen ledger
	require.NoError(w.t, json.NewDecoder(response.Body).Decode(&seen))
	require.NoError(w.t, response.Body.Close())
	w.t.Logf("%d submitted, %d acknowledged, ended %v, the longest after %v; kills %v; %d creates, %d effects; %d live pages opened",
		l.submitted.Load(), l.acknowledged.Load(), l.states, l.slow.Round(time.Millisecond), w.killed, seen.Creates, seen.Effects, w.operated.Load())
	require.Empty(w.t, l.wrong)
	require.Equal(w.t, l.submitted.Load(), l.ended.Load(), "I1: every job ends")
	require.Empty(w.t, seen.AttemptsTwice, "I2: one create an attempt")
	require.Empty(w.t, seen.KeysTwice, "done twice")
	require.Equal(w.t, seen.Effects, l.states[jobs.Succeeded], "what was done is what is told")
	require.Greater(w.t, l.states[jobs.Succeeded]*100, int(l.ended.Load())*99, "%v", l.states)
	require.Positive(w.t, w.operated.Load(), "nobody looked at the pages")
}

// flat: nothing has a trend.
func (w *world) flat(samples []sample) {
	w.t.Helper()
	found := map[string]bool{}
	for _, t := range trends(samples, w.plan.warm.Seconds()) {
		w.t.Log(t)
		found[t.series] = true
		assert.True(w.t, t.flat(), "%s grows", t.series)
	}
	for _, name := range []string{"api0.rss_kb", "worker0.rss_kb", "api0.goroutines", "worker0.goroutines", "store.keys", "store.due"} {
		assert.True(w.t, found[name], "%s was not seen", name)
	}
}

// base are the keys that stay: counters of partitions, what processes tell of
// themselves, sessions and the trail of operators, asynq's queues and their statistics.
var base = regexp.MustCompile(`^(oj:\{\d+\}:(seq|epoch|base)|oj:(sweep|probe|processes|audit)|oj:(process|session|login):.*|asynq:(servers|workers|queues).*|asynq:\{[a-z]+\}:(processed|failed)(:.*)?)$`)

// delivered are tasks that asynq had given to a worker that was killed: it takes them
// back after one to two minutes, which a short run does not wait for.
var delivered = regexp.MustCompile(`^asynq:\{press\}:(t:.*|active|lease)$`)

// nothingLeft: when the last job's key has had its time, only the base is there.
func (w *world) nothingLeft(ctx context.Context) {
	w.t.Helper()
	deadline := time.Now().Add(w.plan.keepKey + 30*time.Second)
	if w.plan.trends() {
		deadline = deadline.Add(2 * time.Minute)
	}
	for {
		all, err := w.rdb.Keys(ctx, "*").Result()
		require.NoError(w.t, err)
		var left []string
		for _, key := range all {
			if !base.MatchString(key) && (w.plan.trends() || !delivered.MatchString(key)) {
				left = append(left, key)
			}
		}
		if len(left) == 0 {
			w.t.Logf("%d keys are left, none of a job", len(all))
			require.Less(w.t, len(all), 3*jobs.Partitions+100, "%v", all)
			return
		}
		require.True(w.t, time.Now().Before(deadline), "%d keys are left, such as %v", len(left), left[:min(20, len(left))])
		pause(ctx, 500*time.Millisecond)
	}
}

// idle is the share of a core each process uses with nothing to do, in percent.
func (w *world) idle() map[string]float64 {
	w.t.Helper()
	shares := map[string]float64{}
	if w.plan.idle == 0 {
		return shares
	}
	measured := append([]*process{w.redis, w.apis[0], w.workers[0]}, w.victims[:2]...)
	before := map[string]time.Duration{}
	for _, p := range measured {
		before[p.name] = w.processorTime(p)
	}
	<-time.After(w.plan.idle)
	for _, p := range measured {
		shares[p.name] = 100 * float64(w.processorTime(p)-before[p.name]) / float64(w.plan.idle)
	}
	return shares
}

func (w *world) processorTime(p *process) time.Duration {
	w.t.Helper()
	pid, _, alive := p.life()
	require.True(w.t, alive, p.name)
	used, err := processorTime(pid)
	require.NoError(w.t, err)
	return used
}
