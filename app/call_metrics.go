package app

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"onejob/handlers"
	"onejob/providers"
	"onejob/recovery"
)

// callMetrics are about attempts and the calls they make.
type callMetrics struct {
	claims     *prometheus.CounterVec
	delay      *prometheus.HistogramVec
	attempts   *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	inFlight   *prometheus.GaugeVec
	most       *prometheus.GaugeVec
	late       *prometheus.CounterVec
	leasesLost *prometheus.CounterVec
	lookups    *prometheus.CounterVec
	tickets    *prometheus.CounterVec
	reasons    *vocabulary
}

func newCallMetrics(with promauto.Factory) *callMetrics {
	return &callMetrics{
		reasons: &vocabulary{},
		claims: with.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_claims_total", Help: "Do wake-ups lead to calls? Claims that were answered; any answer but claimed makes no call and harms nothing.",
		}, []string{"provider", "answer"}),
		delay: with.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "onejob_queue_delay_seconds",
			Help:    "Are there enough workers? From when an attempt could have been claimed (its job's POST, or the end of its back-off) to its claim, by Redis's clock.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800},
		}, []string{"provider"}),
		attempts: with.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_attempts_total", Help: "What becomes of attempts? Those that came into a state by this process's word; late outcomes are not among them.",
		}, []string{"provider", "state", "reason"}),
		seconds: with.NewHistogramVec(prometheus.HistogramOpts{
			Name: "onejob_provider_call_seconds", Help: "How long do calls take? From claim to outcome; accepted: somebody else reported the end.",
			Buckets: []float64{.01, .05, .1, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600},
		}, []string{"provider", "outcome"}),
		inFlight: with.NewGaugeVec(prometheus.GaugeOpts{
			Name: "onejob_provider_calls_in_flight", Help: "How busy is this worker? Calls that are being made or listened to.",
		}, []string{"provider"}),
		most: with.NewGaugeVec(prometheus.GaugeOpts{
			Name: "onejob_provider_concurrency", Help: "How busy can this worker be? The calls a provider may be given at once (concurrency).",
		}, []string{"provider"}),
		late: with.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_late_results_discarded_total", Help: "Is work done and not used? Outcomes that came after the slot was taken or the attempt revoked.",
		}, []string{"provider", "reason"}),
		leasesLost: with.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_leases_lost_total", Help: "Do workers lose their attempts? Leases not extended because the attempt was cancelled, or its lease had run out.",
		}, []string{"provider"}),
		lookups: with.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_lookups_total", Help: "Does asking providers settle unknown attempts? Questions, by what the answer was worth.",
		}, []string{"provider", "said"}),
		tickets: with.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_tickets_run_total", Help: "Do operators retry from the queue? Tickets that were run, by what came of it.",
		}, []string{"answer"}),
	}
}

func (m *callMetrics) ticketRun(answer string) { m.tickets.WithLabelValues(answer).Inc() }

// known shows the series of a provider before its first call, so that rates do not
// miss the first event.
func (m *callMetrics) known(provider string, concurrency int) {
	m.most.WithLabelValues(provider).Set(float64(concurrency))
	m.inFlight.WithLabelValues(provider)
	m.claims.WithLabelValues(provider, handlers.AnswerClaimed)
	m.delay.WithLabelValues(provider)
	m.leasesLost.WithLabelValues(provider)
	for _, state := range []providers.Kind{providers.Succeeded, providers.Failed, providers.Unknown} {
		m.seconds.WithLabelValues(provider, string(state))
	}
}

func (m *callMetrics) claimed(e handlers.Claimed) {
	m.claims.WithLabelValues(e.Provider, e.Answer).Inc()
	if e.Answer != handlers.AnswerClaimed {
		return
	}
	m.inFlight.WithLabelValues(e.Provider).Inc()
	m.delay.WithLabelValues(e.Provider).Observe(e.Waited.Seconds())
	m.attempts.WithLabelValues(e.Provider, "running", "").Inc()
}

func (m *callMetrics) suspected(provider, reason string) {
	m.attempts.WithLabelValues(provider, string(providers.Unknown), m.reasons.word(reason)).Inc()
}

func (m *callMetrics) ended(e handlers.Ended) {
	m.inFlight.WithLabelValues(e.Provider).Dec()
	m.seconds.WithLabelValues(e.Provider, string(e.Outcome)).Observe(e.Took.Seconds())
	if e.Recorded {
		m.settled(recovery.Settled{Provider: e.Provider, Outcome: e.Outcome, Reason: e.Reason, Late: e.Late})
	}
}

// settled counts an outcome that the store was told.
func (m *callMetrics) settled(e recovery.Settled) {
	switch {
	case e.Late != "":
		m.late.WithLabelValues(e.Provider, m.reasons.word(e.Late)).Inc()
	case e.Outcome == providers.Succeeded, e.Outcome == providers.Failed:
		m.attempts.WithLabelValues(e.Provider, string(e.Outcome), m.reasons.word(e.Reason)).Inc()
	}
}
