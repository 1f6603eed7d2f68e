package app

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"onejob/tracing"
)

// WithTracerProvider makes spans with a provider of the program's own, whatever the
// configuration says of tracing. It is neither flushed nor shut down here.
func WithTracerProvider(provider trace.TracerProvider) Option {
	return func(a *App) { a.tracer = tracing.New(provider) }
}

// trace begins to send spans where the configuration says so.
func (a *App) trace(ctx context.Context) (err error) {
	to := a.cfg.Tracing
	if a.tracer.On() || to.Endpoint == "" {
		return nil
	}
	a.exporter, err = tracing.Export(ctx, tracing.Settings{
		Endpoint: to.Endpoint, Sample: to.Sample, ServiceName: to.ServiceName, Log: a.log,
	})
	if err != nil {
		return err
	}
	a.tracer = a.exporter.Tracer()
	return nil
}
