package config

import (
	"net/url"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Tracing says where OpenTelemetry spans go. Without it none are made.
type Tracing struct {
	// Endpoint is the root of a collector that takes OTLP over HTTP, such as
	// http://127.0.0.1:4318. Key tracing.endpoint. Defaults to empty: tracing is off,
	// whatever the environment says.
	Endpoint string

	// Sample is the share of the traces begun here that are kept, from 0 to 1; a
	// caller's own decision is followed. Key tracing.sample. Defaults to nil: what
	// OTEL_TRACES_SAMPLER says, and all without it.
	Sample *float64

	// ServiceName is what the spans are filed under. Key tracing.service_name.
	// Defaults to empty: OTEL_SERVICE_NAME, and onejob without it.
	ServiceName string
}

func (r reader) tracing(to *Tracing) field {
	return func(path string, n *yaml.Node) {
		r.mapping(path, n, map[string]field{
			"endpoint":     r.text(&to.Endpoint),
			"sample":       r.share(&to.Sample),
			"service_name": r.text(&to.ServiceName),
		})
		if to.Endpoint == "" && !r.written(child(path, "endpoint")) && !r.isBad(path) {
			r.add(child(path, "endpoint"), "missing", wantEndpoint)
		}
	}
}

const (
	wantEndpoint = "tracing is on when it is given: the root of a collector, such as http://127.0.0.1:4318"
	wantShare    = "want a number from 0 to 1, such as 0.1"
)

// share reads a number from 0 to 1.
func (r reader) share(to **float64) field {
	return func(path string, n *yaml.Node) {
		if !r.scalar(path, n, "a number") {
			return
		}
		share, err := strconv.ParseFloat(n.Value, 64)
		if err != nil {
			r.add(path, r.shown(n)+" is not a number", wantShare)
			return
		}
		*to = &share
	}
}

func (c checker) tracing(t Tracing) {
	const endpoint = "tracing.endpoint"
	if t.Endpoint == "" && (t.Sample != nil || t.ServiceName != "") {
		c.add(endpoint, "missing", wantEndpoint)
	}
	c.webAddress(endpoint, t.Endpoint)
	if u, err := url.Parse(t.Endpoint); err == nil && (u.User != nil || u.RawQuery != "") {
		c.add(endpoint, "carries credentials or a query, which are not sent", "put them into OTEL_EXPORTER_OTLP_HEADERS")
	}
	if t.Sample != nil && !(*t.Sample >= 0 && *t.Sample <= 1) { // also NaN
		c.add("tracing.sample", strconv.FormatFloat(*t.Sample, 'g', -1, 64)+" is out of range", wantShare)
	}
}
