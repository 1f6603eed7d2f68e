package handlers

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"onejob/jobs"
	"onejob/tracing"
	"onejob/webhooks"
)

// sendTraced makes a try in a span of the trace the job was submitted in. The span
// does not say where to: the address is the owner's, and may hold a token.
func (w *Webhooks) sendTraced(ctx context.Context, job *jobs.Job, of *jobs.Webhook, try int) webhooks.Outcome {
	ctx, span := w.options.Tracer.Join(ctx, job.Trace, tracing.SpanDelivery, trace.SpanKindClient, trace.WithAttributes(
		tracing.Job(job.ID), tracing.Route(job.Route), tracing.State(string(job.State)), attribute.Int("onejob.webhook", of.Number),
		attribute.String("onejob.webhook.event", of.Event), attribute.Int("onejob.webhook.try", try),
	))
	defer span.End()
	o := w.send(ctx, job, of)
	if o.Status != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", o.Status))
	}
	if !o.Delivered {
		tracing.Failed(ctx, "not_delivered")
	}
	return o
}
