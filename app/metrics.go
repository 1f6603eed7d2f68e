package app

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"onejob/contracts"
	"onejob/handlers"
	"onejob/providers"
)

// metrics counts what becomes of calls.
type metrics struct {
	registry *prometheus.Registry
	attempts *prometheus.CounterVec
	late     *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	rewound  prometheus.Counter
	breakers *prometheus.GaugeVec
	// certificates has a 1 for the state each certificate is in, 0 for the others.
	certificates *prometheus.GaugeVec
}

func newMetrics() *metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	with := promauto.With(registry)
	return &metrics{
		registry: registry,
		attempts: with.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_attempts_total", Help: "Calls that ended, by provider, outcome and reason.",
		}, []string{"provider", "outcome", "reason"}),
		late: with.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_late_results_discarded_total", Help: "Outcomes that came after the slot was taken or the attempt revoked.",
		}, []string{"provider", "reason"}),
		breakers: with.NewGaugeVec(prometheus.GaugeOpts{
			Name: "onejob_provider_breaker", Help: "1 for the state a provider's circuit breaker is in, in this process.",
		}, []string{"provider", "state"}),
		certificates: with.NewGaugeVec(prometheus.GaugeOpts{
			Name: "onejob_certificate", Help: "1 for the state the certificate of a route's provider is in.",
		}, []string{"route", "provider", "state"}),
		rewound: with.NewCounter(prometheus.CounterOpts{
			Name: "onejob_store_rewound_total", Help: "Partitions found to have gone back in time.",
		}),
		seconds: with.NewHistogramVec(prometheus.HistogramOpts{
			Name: "onejob_attempt_seconds", Help: "Time from claim to outcome, by provider.",
			Buckets: []float64{.01, .05, .1, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600},
		}, []string{"provider"}),
	}
}

func (m *metrics) breaker(provider string, state providers.BreakerState) {
	for _, s := range []providers.BreakerState{providers.BreakerClosed, providers.BreakerOpen, providers.BreakerHalfOpen} {
		m.breakers.WithLabelValues(provider, string(s)).Set(one(s == state))
	}
}

func (m *metrics) standing(s contracts.Standing) {
	for _, state := range contracts.States() {
		m.certificates.WithLabelValues(s.Route, s.Provider, state).Set(one(s.State == state))
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func (m *metrics) ended(e handlers.Ended) {
	m.attempts.WithLabelValues(e.Provider, string(e.Outcome), e.Reason).Inc()
	m.seconds.WithLabelValues(e.Provider).Observe(e.Took.Seconds())
	if e.Late != "" {
		m.late.WithLabelValues(e.Provider, e.Late).Inc()
	}
}
