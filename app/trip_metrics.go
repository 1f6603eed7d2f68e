package app

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/redis/go-redis/v9"

	"onejob/jobs"
)

// tripMetrics are about the round trips of this process to Redis. As the watch of its
// client (package batch) it sees ours, asynq's and the operators' pages', but not what a
// new connection for scripts asks.
type tripMetrics struct {
	commands sync.Map // the name of a command: its prometheus.Counter
	counters *prometheus.CounterVec
	seconds  map[string]prometheus.Observer // by kind
	errors   *prometheus.CounterVec
}

// Kinds of round trips. Commands by themselves would be too many series for a
// histogram.
const (
	tripVerb     = "verb"     // a script or function of ours
	tripScript   = "script"   // another's, such as asynq's
	tripPipeline = "pipeline" // several at once
	tripCommand  = "command"
)

func newTripMetrics(with promauto.Factory) *tripMetrics {
	m := &tripMetrics{
		counters: with.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_store_commands_total", Help: "What is asked of Redis? Commands, scripts and functions, those in pipelines too; a verb of ours by its name, whether it ran as a script or as a function.",
		}, []string{"command"}),
		seconds: map[string]prometheus.Observer{},
		errors: with.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_store_errors_total", Help: "Does Redis fail us? Round trips without a good answer: refused, timeout, connection or cancelled (by our own side).",
		}, []string{"error"}),
	}
	seconds := with.NewHistogramVec(prometheus.HistogramOpts{
		Name: "onejob_store_round_trip_seconds", Help: "Is Redis quick enough? Time from asking to the answer, or to when nobody waits for it any more: of one round trip, waiting for a connection or a turn included.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
	}, []string{"kind"})
	for _, kind := range []string{tripVerb, tripScript, tripPipeline, tripCommand} {
		m.seconds[kind] = seconds.WithLabelValues(kind)
	}
	return m
}

// commandNames are the commands told apart; there are no others worth it.
var commandNames = map[string]bool{
	"get": true, "set": true, "del": true, "exists": true, "ping": true, "info": true, "time": true, "wait": true,
	"hset": true, "hget": true, "hmget": true, "hgetall": true, "hdel": true, "hincrby": true, "pexpire": true, "expire": true,
	"zadd": true, "zrem": true, "zcard": true, "zcount": true, "zrange": true, "zrangebyscore": true, "zrevrangebyscore": true,
	"xadd": true, "xrange": true, "publish": true, "subscribe": true, "evalsha": true, "eval": true, "script": true, "fcall": true, "function": true,
	"multi": true, "exec": true, "scan": true, "sadd": true, "smembers": true, "llen": true, "lpush": true, "config": true,
}

// DialHook is redis.Hook.
func (m *tripMetrics) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook is redis.Hook.
func (m *tripMetrics) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if greets(cmd) {
			return next(ctx, cmd)
		}
		began := time.Now()
		err := next(ctx, cmd)
		m.observe(m.command(cmd), began, err)
		return err
	}
}

// ProcessPipelineHook is redis.Hook.
func (m *tripMetrics) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if len(cmds) > 0 && greets(cmds[0]) {
			return next(ctx, cmds)
		}
		began := time.Now()
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			m.command(cmd)
		}
		m.observe(tripPipeline, began, err)
		return err
	}
}

// greets tells whether a command belongs to the making of a connection. Servers
// refuse what they do not know of that, which is no trouble, and a connection that
// cannot be made is seen by whoever wanted it.
func greets(cmd redis.Cmder) bool {
	switch cmd.Name() {
	case "hello", "client", "auth", "readonly":
		return true
	}
	return false
}

// command counts one and tells its kind.
func (m *tripMetrics) command(cmd redis.Cmder) string {
	name, kind := cmd.Name(), tripCommand
	if verb := jobs.VerbOf(cmd); verb != "" {
		name, kind = verb, tripVerb
	} else if name == "evalsha" || name == "eval" || name == "fcall" {
		kind = tripScript
	}
	if kind != tripVerb && !commandNames[name] {
		name = otherWord
	}
	m.count(name)
	return kind
}

// count counts a command. Its counter is looked up once: labels are hashed under a lock.
func (m *tripMetrics) count(name string) {
	counter, known := m.commands.Load(name)
	if !known {
		counter, _ = m.commands.LoadOrStore(name, m.counters.WithLabelValues(name))
	}
	counter.(prometheus.Counter).Inc()
}

func (m *tripMetrics) observe(kind string, began time.Time, err error) {
	m.seconds[kind].Observe(time.Since(began).Seconds())
	if what := tripError(err); what != "" {
		m.errors.WithLabelValues(what).Inc()
	}
}

// troubles are the first words of answers that say Redis is not well, or not as it
// should be. Others are answers like any: nothing is there, a script has yet to be
// sent whole, the server has no functions, asynq's scripts know no such task.
var troubles = map[string]bool{
	"ERR": true, "WRONGTYPE": true, "CROSSSLOT": true, // ours: a mistake
	"OOM": true, "READONLY": true, "MISCONF": true, "NOREPLICAS": true, "LOADING": true, "BUSY": true,
	"CLUSTERDOWN": true, "MASTERDOWN": true, "TRYAGAIN": true,
	"NOAUTH": true, "WRONGPASS": true, "NOPERM": true,
}

// tripError names an error; empty for what is none.
func tripError(err error) string {
	if err == nil || jobs.NoFunction(err) {
		return ""
	}
	var answered redis.Error
	var network net.Error
	switch {
	case errors.As(err, &answered):
		if code, _, _ := strings.Cut(answered.Error(), " "); !troubles[code] {
			return ""
		}
		return "refused"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, redis.ErrPoolTimeout),
		errors.As(err, &network) && network.Timeout():
		return "timeout"
	}
	return "connection"
}
