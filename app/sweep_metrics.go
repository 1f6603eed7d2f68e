package app

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"onejob/recovery"
	"onejob/roster"
)

// sweepMetrics are about the sweeper of this process.
type sweepMetrics struct {
	sweeps  *prometheus.CounterVec
	taken   *prometheus.CounterVec
	seconds prometheus.Histogram
	lag     prometheus.Gauge
	last    prometheus.Gauge

	mu     sync.Mutex
	latest roster.Sweeper
}

func newSweepMetrics(with promauto.Factory) *sweepMetrics {
	return &sweepMetrics{
		sweeps: with.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_sweeps_total", Help: "Does the sweeper get through? Sweeps of this process; failed: not all could be read.",
		}, []string{"outcome"}),
		taken: with.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_sweeper_taken_total", Help: "What is left behind for the sweeper? Overdue entries it took the turn for, by kind; wake: a wake-up was lost or waits long.",
		}, []string{"kind"}),
		seconds: with.NewHistogram(prometheus.HistogramOpts{
			Name: "onejob_sweep_seconds", Help: "Is there more to sweep than one sweeper can? Time of one sweep.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		lag: with.NewGauge(prometheus.GaugeOpts{
			Name: "onejob_sweeper_lag_seconds", Help: "Is the sweeper behind? By how much the oldest entry was overdue that the latest sweep of this process found.",
		}),
		last: with.NewGauge(prometheus.GaugeOpts{
			Name: "onejob_sweeper_last_sweep_timestamp_seconds", Help: "Does the sweeper of this process run? Unix time of its latest whole sweep; 0 before it, and where none runs.",
		}),
	}
}

func (m *sweepMetrics) swept(s recovery.Swept) {
	m.seconds.Observe(s.Took.Seconds())
	m.lag.Set(s.Lag.Seconds())
	overdue := 0
	for kind, n := range s.Taken {
		m.taken.WithLabelValues(kind).Add(float64(n))
		overdue += n
	}
	if s.Err != nil {
		m.sweeps.WithLabelValues("failed").Inc()
		return
	}
	m.sweeps.WithLabelValues("whole").Inc()
	m.last.Set(float64(s.At.UnixMilli()) / 1000)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.latest = roster.Sweeper{LastSweep: s.At.UTC().Truncate(time.Millisecond), LagMS: s.Lag.Milliseconds(), Overdue: overdue}
}

// sweeper is what the roster tells of it.
func (m *sweepMetrics) sweeper() *roster.Sweeper {
	m.mu.Lock()
	defer m.mu.Unlock()
	latest := m.latest
	return &latest
}
