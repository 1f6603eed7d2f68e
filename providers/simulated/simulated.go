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
	"maps"
	"net/http"
	"slices"
	"syscall"
	"time"

	"onejob/providers"
)

// Type is the name of this provider type in the configuration.
const Type = "simulated"

type provider struct {
	name   string
	quoted json.RawMessage
}

// New makes a simulated provider. It needs nothing but a name.
func New(c providers.Config) (providers.Provider, error) {
	if c.Name == "" {
		return nil, errors.New("a simulated provider needs a name")
	}
	quoted, err := providers.Encode(c.Name)
	if err != nil {
		return nil, err
	}
	return &provider{name: c.Name, quoted: quoted}, nil
}

// Execute obeys input.simulate.<name of this provider>. A script that cannot be
// read is a permanent failure, request_invalid, and nothing is sent.
func (p *provider) Execute(ctx context.Context, call *providers.Call) providers.Outcome {
	wire := call.Wire
	if wire == nil {
		wire = providers.NewWire(nil)
	}
	said := read(call.Input)
	todo, err := said.script(p.name, call.Try)
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
	return judge.Outcome(ctx, wire, p.send(ctx, wire, said, todo))
}

// send plays the call on the wire.
func (p *provider) send(ctx context.Context, wire *providers.Wire, said input, todo step) providers.Answer {
	if err := ctx.Err(); err != nil {
		return providers.Answer{Err: err}
	}
	if err := wire.Leaving(); err != nil {
		return providers.Answer{Err: err}
	}
	wire.Wrote(len(said.text))
	if err := silence(ctx, todo); err != nil {
		return providers.Answer{Err: err}
	}
	answer := p.answer(said, todo)
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
func (p *provider) answer(said input, todo step) providers.Answer {
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
		return providers.Answer{Status: http.StatusOK, Body: p.result(said, todo)}
	}
}

// result is the scripted one or, without one, the input as it was printed.
func (p *provider) result(said input, todo step) json.RawMessage {
	if len(todo.Result) > 0 {
		return todo.Result
	}
	printed := said.text
	if _, scripted := said.members["simulate"]; scripted {
		rest := maps.Clone(said.members)
		delete(rest, "simulate")
		printed, _ = providers.Encode(rest)
	}
	if len(printed) == 0 {
		printed = json.RawMessage("null")
	}
	if said.members == nil && !json.Valid(printed) {
		return nil // understand calls it unreadable
	}
	return slices.Concat(json.RawMessage(`{"by":`), p.quoted, json.RawMessage(`,"printed":`), printed, json.RawMessage("}"))
}

func understand(a providers.Answer) providers.Outcome {
	if !json.Valid(a.Body) {
		return providers.Unreadable("the answer is no JSON")
	}
	return providers.Success(json.RawMessage(a.Body), nil)
}
