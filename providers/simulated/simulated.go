// Package simulated is a provider that does what the job's input says, for the
// demo and for tests (design §8). It opens no connection, yet behaves like a call
// over one: the lease is asked before the first byte, then there is silence, then
// an answer. It keeps no state: what it does depends on the call alone.
package simulated

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"syscall"
	"time"

	"onejob/providers"
)

// Type is the name of this provider type in the configuration.
const Type = "simulated"

type provider struct {
	name string
}

// New makes a simulated provider. It needs nothing but a name.
func New(c providers.Config) (providers.Provider, error) {
	if c.Name == "" {
		return nil, errors.New("a simulated provider needs a name")
	}
	return &provider{name: c.Name}, nil
}

// Execute obeys input.simulate.<name of this provider>. A script that cannot be
// read is a permanent failure, request_invalid, and nothing is sent.
func (p *provider) Execute(ctx context.Context, call *providers.Call) providers.Outcome {
	wire := call.Wire
	if wire == nil {
		wire = providers.NewWire(nil)
	}
	todo, err := script(call.Input, p.name, call.Try)
	if err != nil {
		outcome := providers.Invalid(err.Error())
		outcome.Evidence = wire.Evidence()
		return outcome
	}
	judge := providers.Judge{
		Envelope: func(providers.Answer) (providers.Refusal, bool) {
			return providers.Refusal{Message: todo.Error}, true
		},
		Understand: understand,
	}
	return judge.Outcome(ctx, wire, p.send(ctx, wire, call, todo))
}

// send plays the call on the wire.
func (p *provider) send(ctx context.Context, wire *providers.Wire, call *providers.Call, todo step) providers.Answer {
	if err := ctx.Err(); err != nil {
		return providers.Answer{Err: err}
	}
	if err := wire.Leaving(); err != nil {
		return providers.Answer{Err: err}
	}
	wire.Wrote(len(call.Input))
	if err := silence(ctx, todo); err != nil {
		return providers.Answer{Err: err}
	}
	answer := p.answer(call.Input, todo)
	wire.Read(len(answer.Body))
	wire.Note(func(e *providers.Evidence) {
		e.Status = answer.Status
		e.Complete = answer.Err == nil
	})
	return answer
}

// silence waits as long as the step says; hanging ends with ctx alone.
func silence(ctx context.Context, todo step) error {
	if todo.Outcome == hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if todo.delay == 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(todo.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answer is what comes back, in the shape a real provider would send it.
func (p *provider) answer(input json.RawMessage, todo step) providers.Answer {
	switch todo.Outcome {
	case reject:
		return providers.Answer{Status: http.StatusUnprocessableEntity, Body: []byte(`{"error":{}}`)}
	case busy:
		return providers.Answer{Status: http.StatusServiceUnavailable, Body: []byte(`{"error":{}}`)}
	case reset:
		return providers.Answer{Err: syscall.ECONNRESET}
	case garbage:
		return providers.Answer{Status: http.StatusOK, Body: []byte("<html>")}
	case truncate:
		return providers.Answer{Status: http.StatusOK, Body: []byte(`{"pri`), Err: io.ErrUnexpectedEOF}
	default:
		return providers.Answer{Status: http.StatusOK, Body: p.result(input, todo)}
	}
}

// result is the scripted one or, without one, the input as it was printed.
func (p *provider) result(input json.RawMessage, todo step) json.RawMessage {
	if len(todo.Result) > 0 {
		return todo.Result
	}
	if members, ok := object(input); ok {
		delete(members, "simulate")
		input, _ = providers.Encode(members)
	}
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	result, err := providers.Encode(map[string]any{"printed": input, "by": p.name})
	if err != nil {
		return nil // an input that is no JSON; understand calls it unreadable
	}
	return result
}

func understand(a providers.Answer) providers.Outcome {
	if !json.Valid(a.Body) {
		return providers.Unreadable("the answer is no JSON")
	}
	return providers.Success(json.RawMessage(a.Body), nil)
}
