package app

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"onejob/jobs"
)

// webhookMetrics are about the deliveries to jobs' webhooks.
type webhookMetrics struct {
	deliveries *prometheus.CounterVec
	pending    prometheus.Gauge
}

func newWebhookMetrics(with promauto.Factory) *webhookMetrics {
	return &webhookMetrics{
		deliveries: with.NewCounterVec(prometheus.CounterOpts{
			Name: "onejob_webhook_deliveries_total", Help: "Do webhooks get through? Tries of this process; pending: it is tried again, exhausted: it is not.",
		}, []string{"event", "outcome"}),
		pending: with.NewGauge(prometheus.GaugeOpts{
			Name: "onejob_webhook_pending", Help: "How many deliveries wait for a try? In the whole store, looked at every 30 s.",
		}),
	}
}

func (m *webhookMetrics) tried(event, outcome string) {
	m.deliveries.WithLabelValues(event, outcome).Inc()
}

// look reads how many wait; what it cannot read stays as it was.
func (m *webhookMetrics) look(ctx context.Context, store *jobs.Store) {
	if pending, err := store.PendingWebhooks(ctx); err == nil {
		m.pending.Set(float64(pending))
	}
}
