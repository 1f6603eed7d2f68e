package soak_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"

	"onejob/jobs"
)

// sample is what was seen at one moment, by name: `<process>.<what>`. What could not
// be asked just then, because somebody had been killed, is not there.
type sample struct {
	Seconds float64            `json:"seconds"` // since the load began
	Values  map[string]float64 `json:"values"`
}

// settled is how old a process is when its figures are taken for its own: before, it
// fills its pools.
const settled = 15 * time.Second

// sampler takes samples and, if ONEJOB_SOAK_OUT names a file, writes each to it as a
// line of JSON.
type sampler struct {
	w       *world
	load    *load
	out     *os.File
	began   time.Time
	samples []sample
	used    map[string]spent
}

// spent is the processor time a process had used at a moment.
type spent struct {
	pid int
	at  time.Time
	cpu time.Duration
}

func (s *sampler) run(ctx context.Context) {
	ticker := time.NewTicker(s.w.plan.sampleEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.take(ctx)
		}
	}
}

func (s *sampler) take(ctx context.Context) {
	one := sample{Seconds: time.Since(s.began).Seconds(), Values: map[string]float64{}}
	for _, p := range append(append([]*process{s.w.redis}, s.w.apis...), s.w.workers...) {
		s.process(one.Values, p)
	}
	_ = s.store(ctx, one.Values) // Redis may just have been killed
	one.Values["jobs.unfinished"] = float64(s.load.submitted.Load() - s.load.ended.Load())
	one.Values["jobs.ended"] = float64(s.load.ended.Load())
	s.samples = append(s.samples, one)
	if s.out != nil {
		text, err := json.Marshal(one)
		if err == nil {
			_, err = fmt.Fprintf(s.out, "%s\n", text)
		}
		assert.NoError(s.w.t, err, "writing a sample")
	}
}

// process adds the figures of one that has settled.
func (s *sampler) process(values map[string]float64, p *process) {
	pid, age, alive := p.life()
	if !alive || age < min(settled, 2*s.w.plan.sampleEvery) {
		return
	}
	rss, threads, err := resident(pid)
	if err != nil {
		return
	}
	values[p.name+".rss_kb"], values[p.name+".threads"] = rss, threads
	if files, err := openFiles(pid); err == nil {
		values[p.name+".fds"] = files
	}
	if cpu, err := processorTime(pid); err == nil {
		before, now := s.used[p.name], spent{pid, time.Now(), cpu}
		if before.pid == pid {
			values[p.name+".cpu_percent"] = 100 * float64(cpu-before.cpu) / float64(now.at.Sub(before.at))
		}
		s.used[p.name] = now
	}
	if p.address == "" {
		return
	}
	if n, err := metric(s.w.http, p.address, "go_goroutines"); err == nil {
		values[p.name+".goroutines"] = n
	}
}

// lists are sorted sets and lists that have no partition, with what they are called
// in a sample: leftovers of processes that were killed would stay in these.
var lists = map[string]string{
	"oj:processes": "store.processes", "asynq:servers": "store.asynq_servers", "asynq:workers": "store.asynq_workers",
	"asynq:{press}:active": "queue.active", "asynq:{press}:pending": "queue.pending", "asynq:{press}:lease": "queue.lease",
	"asynq:{press}:retry": "queue.retry", "asynq:{press}:scheduled": "queue.scheduled", "asynq:{press}:archived": "queue.archived",
	"asynq:{press}:completed": "queue.completed", "oj:backlog:{press}:owners": "queue.backlog_owners",
}

// store adds what Redis holds.
func (s *sampler) store(ctx context.Context, values map[string]float64) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	pipe := s.w.rdb.Pipeline()
	size, memory, clients := pipe.DBSize(ctx), pipe.Info(ctx, "memory"), pipe.Info(ctx, "clients")
	sizes := map[string][]*redis.Cmd{}
	ask := func(key, as string) {
		command := "ZCARD"
		if as == "queue.active" || as == "queue.pending" {
			command = "LLEN"
		}
		sizes[as] = append(sizes[as], pipe.Do(ctx, command, key))
	}
	for key, as := range lists {
		ask(key, as)
	}
	for p := range jobs.Partitions {
		prefix := "oj:{" + strconv.Itoa(p) + "}:"
		ask(prefix+"due", "store.due")
		ask(prefix+"webhooks", "store.webhooks")
		for _, state := range jobs.States {
			as := "store.indexed_open"
			if state.Ended() {
				as = "store.indexed_ended"
			}
			ask(prefix+"state:"+string(state), as)
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	values["store.keys"] = float64(size.Val())
	values["store.memory_bytes"] = number(memory.Val(), "used_memory")
	values["store.clients"] = number(clients.Val(), "connected_clients")
	for as, counts := range sizes {
		for _, count := range counts {
			n, _ := count.Int64()
			values[as] += float64(n)
		}
	}
	return nil
}

// number is one of INFO's.
func number(info, name string) float64 {
	for line := range strings.Lines(info) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			n, _ := strconv.ParseFloat(text, 64)
			return n
		}
	}
	return 0
}
