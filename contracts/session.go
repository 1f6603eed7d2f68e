package contracts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"time"

	"github.com/oklog/ulid/v2"

	"onejob/providers"
)

// session is one verification while it runs.
type session struct {
	verifier Verifier
	contract *Contract
	target   Target
	runs     int
	progress func(Progress)
	params   json.RawMessage
	of, made int
	answers  hash.Hash
	open     map[Property]bool // not contradicted: a call got no answer
	report   *Report
}

func newSession(v Verifier, c *Contract, t Target, runs int, progress func(Progress)) (*session, error) {
	params, err := c.Params(nil)
	if err != nil {
		return nil, fmt.Errorf("encoding the contract's options: %w", err)
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	s := &session{
		verifier: v, contract: c, target: t, runs: runs, progress: progress, params: params,
		answers: sha256.New(), open: map[Property]bool{},
	}
	s.of = runs * len(c.Tests)
	if s.probesTemperature() {
		s.of += temperatureCalls(runs)
	}
	if s.target.AI && c.Rendering.Canary {
		s.of++
	}
	if s.target.AI && c.Rendering.PromptTokens != nil {
		s.of++
	}
	return s, nil
}

// call makes one call with the route's real options, over which params are laid,
// and counts it; good decides whether it went well.
func (s *session) call(ctx context.Context, what string, input, params json.RawMessage, good func(providers.Outcome) bool) providers.Outcome {
	began := time.Now()
	o := s.execute(ctx, input, params)
	s.made++
	frame(s.answers, o.Result)
	s.progress(Progress{
		Route: s.target.Route, Provider: s.target.Provider, Call: s.made, Of: s.of, What: what,
		OK: good(o), Took: time.Since(began),
	})
	return o
}

// defaultDeadline bounds a call of a target that has no deadline.
const defaultDeadline = 10 * time.Minute

func (s *session) execute(ctx context.Context, input, params json.RawMessage) (o providers.Outcome) {
	deadline := s.target.Deadline
	if deadline <= 0 {
		deadline = defaultDeadline
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	wire := providers.NewWire(nil)
	defer func() {
		if p := recover(); p != nil {
			o = providers.Panicked(wire)
		}
	}()
	silent := make(chan struct{})
	go func() { defer close(silent); hangUp(ctx, cancel, wire, s.target.Timeout) }()
	defer func() { cancel(); <-silent }()
	id := "verify_" + ulid.Make().String()
	call := &providers.Call{
		JobID: id, AttemptID: id + "_a1", Try: 1, Input: input, Params: params,
		NotAfter: time.Now().Add(deadline), Wire: wire,
	}
	o = s.target.Call.Execute(ctx, call)
	if o.Kind == providers.Accepted {
		o = s.poll(ctx, providers.Ref{JobID: call.JobID, AttemptID: call.AttemptID, Handle: o.Handle}, wire)
	}
	return o
}

// hangUp ends a call that has been silent for its timeout: a verification does not
// wait for the late answer that a job would wait for.
func hangUp(ctx context.Context, cancel context.CancelFunc, wire *providers.Wire, timeout time.Duration) {
	if timeout <= 0 {
		return
	}
	select {
	case <-wire.Sent():
	case <-ctx.Done():
		return
	}
	for {
		left := timeout - time.Since(wire.LastActivity())
		if wire.LastActivity().IsZero() {
			left = timeout
		}
		if left <= 0 {
			cancel()
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// poll asks for a call that was accepted until it ends.
func (s *session) poll(ctx context.Context, ref providers.Ref, wire *providers.Wire) providers.Outcome {
	asked, ok := s.target.Call.(providers.Lookuper)
	if !ok {
		return providers.Outcome{Kind: providers.Unknown, Reason: providers.ReasonAcceptedUntraceable}
	}
	pause := s.verifier.Poll
	if pause <= 0 {
		pause = 2 * time.Second
	}
	for {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return providers.Unended(ctx, wire)
		}
		if o := asked.Lookup(ctx, ref); o.Kind == providers.Succeeded || o.Kind == providers.Failed {
			return o
		}
	}
}

// input is what a job with these variables sends to the target.
func (s *session) input(vars map[string]any) (json.RawMessage, error) {
	if s.target.AI {
		return rendered(s.contract.Prompt.Fill(texted(vars)), nil)
	}
	return providers.Encode(orEmpty(vars))
}

func (s *session) answersHash() string { return hex.EncodeToString(s.answers.Sum(nil)) }

// prove records a property as proven, or as contradicted by an answer.
func (s *session) prove(p Property, proven bool, evidence string) {
	s.report.Proofs = append(s.report.Proofs, Proof{Property: p, Proven: proven, Evidence: short(evidence, 300)})
}

// leaveOpen records that a call got no answer.
func (s *session) leaveOpen(p Property, evidence string) {
	s.open[p] = true
	s.prove(p, false, evidence)
}

// silence says whether an outcome is no answer of the provider about the request,
// so that nothing follows from it: it was not sent, the provider was busy, or the
// outcome is unknown.
func noAnswer(o providers.Outcome) bool {
	return o.Kind != providers.Succeeded && (o.Kind != providers.Failed || o.Retryable || o.Reason == providers.ReasonNotSent)
}

// said puts a call that did not succeed into words.
func said(o providers.Outcome) string {
	if o.Message == "" {
		return fmt.Sprintf("the call ended %s (%s)", o.Kind, o.Reason)
	}
	return fmt.Sprintf("the call ended %s (%s): %s", o.Kind, o.Reason, o.Message)
}
