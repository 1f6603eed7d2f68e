package providers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// scripted answers with one outcome after the other, the last for ever.
type scripted struct {
	outcomes []Outcome
	calls    int
	wait     chan struct{} // a call waits for it, if set
	entered  chan struct{}
}

func (s *scripted) Execute(context.Context, *Call) Outcome {
	o := s.outcomes[min(s.calls, len(s.outcomes)-1)]
	s.calls++
	if s.wait != nil {
		s.entered <- struct{}{}
		<-s.wait
	}
	return o
}

var (
	good = Success([]byte("{}"), nil)
	bad  = unknown(ReasonConnectionLost, "reset")
)

func execute(t *testing.T, p Provider) Outcome {
	t.Helper()
	return p.Execute(t.Context(), &Call{Wire: NewWire(nil)})
}

func TestBreakerOpensAndCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		base := &scripted{outcomes: []Outcome{bad, bad, good, bad, bad, bad, bad, good}}
		var changes []string
		p, breaker := WithBreaker(base, BreakerSettings{Failures: 3, OpenFor: time.Minute}, func(from, to BreakerState) {
			changes = append(changes, string(from)+" to "+string(to))
		})
		for range 5 {
			execute(t, p)
		}
		require.Equal(t, BreakerClosed, breaker.State(), "a success in between begins anew")
		execute(t, p)
		require.Equal(t, BreakerOpen, breaker.State())

		<-time.After(20 * time.Second) // of the bubble's clock
		wire := NewWire(nil)
		o := p.Execute(t.Context(), &Call{Wire: wire})
		require.Equal(t, Failed, o.Kind)
		require.Equal(t, ReasonCircuitOpen, o.Reason)
		require.Equal(t, EffectNone, o.Effect)
		require.True(t, o.Retryable)
		require.Equal(t, 40*time.Second, o.RetryAfter)
		require.True(t, strings.HasPrefix(o.Message, "not sent: "), o.Message)
		require.Error(t, wire.Leaving(), "a call that was held back cannot leave afterwards")
		require.Equal(t, 6, base.calls, "nothing reaches the provider")
		require.Equal(t, ReasonCircuitOpen, p.Execute(t.Context(), &Call{}).Reason, "without a wire")

		<-time.After(41 * time.Second)
		require.Equal(t, BreakerHalfOpen, breaker.State())
		execute(t, p)
		require.Equal(t, BreakerOpen, breaker.State(), "one that fails opens it again")
		<-time.After(61 * time.Second)
		require.Equal(t, Succeeded, execute(t, p).Kind)
		require.Equal(t, BreakerClosed, breaker.State())
		require.Equal(t, []string{
			"closed to open", "open to half-open", "half-open to open", "open to half-open", "half-open to closed",
		}, changes)
	})
}

func TestBreakerLetsOneThrough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		base := &scripted{outcomes: []Outcome{bad, good}}
		p, breaker := WithBreaker(base, BreakerSettings{Failures: 1, OpenFor: time.Second}, nil)
		execute(t, p)
		<-time.After(2 * time.Second)
		base.wait, base.entered = make(chan struct{}), make(chan struct{})
		first := make(chan Outcome)
		go func() { first <- p.Execute(t.Context(), &Call{Wire: NewWire(nil)}) }()
		<-base.entered
		for range 3 {
			o := execute(t, p)
			require.Equal(t, ReasonCircuitOpen, o.Reason)
			require.Equal(t, EffectNone, o.Effect)
		}
		require.Equal(t, 2, base.calls)
		close(base.wait)
		require.Equal(t, Succeeded, (<-first).Kind)
		require.Equal(t, BreakerClosed, breaker.State())
	})
}

// Only what speaks of the provider's health counts against it.
func TestVerdict(t *testing.T) {
	t.Parallel()
	ours := NewWire(func() error { return ErrNotEntitled })
	require.Error(t, ours.Leaving())
	off, cancel := context.WithCancel(t.Context())
	cancel()
	status := func(n int, own bool) Outcome { return byStatus(Answer{Status: n}, Refusal{Message: "m"}, own) }
	for _, c := range []struct {
		name    string
		outcome Outcome
		wire    *Wire
		ctx     context.Context
		want    error
	}{
		{name: "result", outcome: good},
		{name: "accepted", outcome: TakenOn("h")},
		{name: "400", outcome: status(400, true)},
		{name: "401", outcome: status(401, true)},
		{name: "422 without an envelope", outcome: status(422, false)},
		{name: "429", outcome: status(429, true)},
		{name: "refused", outcome: Refused("no")},
		{name: "too large", outcome: TooLarge()},
		{name: "untraceable", outcome: Untraceable()},
		{name: "500", outcome: status(500, true), want: errUnwell},
		{name: "503", outcome: status(503, true), want: errUnwell},
		{name: "529", outcome: status(529, true), want: errUnwell},
		{name: "502", outcome: status(502, false), want: errUnwell},
		{name: "408", outcome: status(408, true), want: errUnwell},
		{name: "reset", outcome: bad, want: errUnwell},
		{name: "cut", outcome: Truncated("cut"), want: errUnwell},
		{name: "garbage", outcome: Unreadable("garbage"), want: errUnwell},
		{name: "deadline", outcome: unknown(ReasonDeadline, "timed out"), want: errUnwell},
		{name: "no connection", outcome: notSent("connection refused"), want: errUnwell},
		{name: "lease over", outcome: notSent("lease"), wire: ours, want: errNoSign},
		{name: "called off before it left", outcome: notSent("off"), ctx: off, want: errNoSign},
		{name: "called off", outcome: unknown(ReasonStopped, "off"), want: errNoSign},
		{name: "invalid", outcome: Invalid("no messages"), want: errNoSign},
		{name: "nothing at all", outcome: Outcome{}, want: errNoSign},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.ctx == nil {
				c.ctx = t.Context()
			}
			if c.wire == nil {
				c.wire = NewWire(nil)
			}
			require.Equal(t, c.want, verdict(c.ctx, c.wire, c.outcome))
		})
	}
}

// A type that panics says nothing of its provider, and the panic goes on.
func TestBreakerAndPanics(t *testing.T) {
	t.Parallel()
	p, breaker := WithBreaker(panicking{}, BreakerSettings{Failures: 1}, nil)
	for range 3 {
		require.PanicsWithError(t, "boom", func() { execute(t, p) })
	}
	require.Equal(t, BreakerClosed, breaker.State())
}

type panicking struct{}

func (panicking) Execute(context.Context, *Call) Outcome { panic(errors.New("boom")) }

type looking struct{ Provider }

func (looking) Lookup(context.Context, Ref) Outcome { return Absent() }

type cancelling struct{ Provider }

func (cancelling) Cancel(context.Context, Ref) error { return ErrNoHandle }

type able struct{ Provider }

func (able) Lookup(context.Context, Ref) Outcome { return Absent() }
func (able) Cancel(context.Context, Ref) error   { return ErrNoHandle }

// A wrapper neither hides what a provider can do nor adds to it.
func TestWrappersKeepAbilities(t *testing.T) {
	t.Parallel()
	for _, base := range []Provider{&scripted{outcomes: []Outcome{bad}}, looking{panicking{}}, cancelling{panicking{}}, able{panicking{}}} {
		breaking, _ := WithBreaker(base, BreakerSettings{}, nil)
		both := WithPause(breaking, "x", &LocalPauses{})
		for _, wrapped := range []Provider{breaking, both} {
			_, canLook := base.(Lookuper)
			looks, ok := wrapped.(Lookuper)
			require.Equal(t, canLook, ok)
			if ok {
				require.Equal(t, Absent(), looks.Lookup(t.Context(), Ref{}))
			}
			_, canCancel := base.(Canceler)
			cancels, ok := wrapped.(Canceler)
			require.Equal(t, canCancel, ok)
			if ok {
				require.ErrorIs(t, cancels.Cancel(t.Context(), Ref{}), ErrNoHandle)
			}
		}
	}
}

// Asking passes an open breaker: what is unknown must be settled while the
// provider is down as well.
func TestLookupPassesAnOpenBreaker(t *testing.T) {
	t.Parallel()
	p, breaker := WithBreaker(able{&scripted{outcomes: []Outcome{bad}}}, BreakerSettings{Failures: 1}, nil)
	execute(t, p)
	require.Equal(t, BreakerOpen, breaker.State())
	require.Equal(t, Absent(), p.(Lookuper).Lookup(t.Context(), Ref{}))
}
