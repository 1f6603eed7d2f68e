package app

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"onejob/contracts"
	"onejob/providers"
)

// metrics are what this process counts. docs/metrics.md says of each which
// question it answers, and a test holds the two together. Labels come from the
// configuration and from words of our own, never from requests: no owner, no job.
type metrics struct {
	registry *prometheus.Registry
	factory  promauto.Factory
	calls    *callMetrics  // what workers do
	sweeps   *sweepMetrics // what the sweeper does; nil where none runs
	trips    *tripMetrics  // what goes to Redis
	webhooks *webhookMetrics
	rewound  prometheus.Counter
	breakers *prometheus.GaugeVec
	// certificates has a 1 for the state each certificate is in, 0 for the others.
	certificates *prometheus.GaugeVec
	expiries     *prometheus.GaugeVec
	build        *prometheus.GaugeVec
	durability   *prometheus.GaugeVec
}

func newMetrics() *metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	with := promauto.With(registry)
	return &metrics{
		registry: registry, factory: with,
		calls: newCallMetrics(with), trips: newTripMetrics(with), webhooks: newWebhookMetrics(with),
		breakers: with.NewGaugeVec(prometheus.GaugeOpts{
			Name: "onejob_provider_breaker", Help: "Is a provider left alone because it is down? 1 for the state its circuit breaker is in, in this process.",
		}, []string{"provider", "state"}),
		certificates: with.NewGaugeVec(prometheus.GaugeOpts{
			Name: "onejob_certificate", Help: "May a route fail over to this provider by itself? 1 for the state its certificate is in; only valid says yes.",
		}, []string{"route", "provider", "state"}),
		expiries: with.NewGaugeVec(prometheus.GaugeOpts{
			Name: "onejob_certificate_expiry_timestamp_seconds", Help: "When does the certificate of a route's provider run out? Unix time; none for a provider without one.",
		}, []string{"route", "provider"}),
		rewound: with.NewCounter(prometheus.CounterOpts{
			Name: "onejob_store_rewound_total", Help: "Has Redis lost acknowledged writes? Partitions this process found to have gone back in time.",
		}),
		build: with.NewGaugeVec(prometheus.GaugeOpts{
			Name: "onejob_build_info", Help: "Which version runs here, as which kind of process? Always 1.",
		}, []string{"version", "kind"}),
		durability: with.NewGaugeVec(prometheus.GaugeOpts{
			Name: "onejob_store_durability", Help: "What can a crash of Redis lose? 1 for its class: fsync nothing, everysec about a second, memory everything.",
		}, []string{"class"}),
	}
}

// about says what this process is, once it is known.
func (m *metrics) about(version, kind string, found Durability) {
	m.build.WithLabelValues(version, kind).Set(1)
	for _, class := range []Durability{Fsync, Everysec, Memory} {
		m.durability.WithLabelValues(string(class)).Set(one(class == found))
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
	if s.Certificate == nil {
		m.expiries.DeleteLabelValues(s.Route, s.Provider)
		return
	}
	m.expiries.WithLabelValues(s.Route, s.Provider).Set(float64(s.Certificate.ExpiresAt.Unix()))
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
