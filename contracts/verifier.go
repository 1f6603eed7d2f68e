package contracts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
)

// DefaultLifetime is how long a certificate is valid.
const DefaultLifetime = 7 * 24 * time.Hour

// Verifier proves that a provider satisfies a contract, by calling it. Every call
// is real: it costs money, and at a provider with effects it has them.
type Verifier struct {
	// Lifetime of the certificates it issues. Defaults to DefaultLifetime.
	Lifetime time.Duration
	// Now is the clock of issue and expiry. Defaults to time.Now.
	Now func() time.Time
	// Poll is the wait between two look-ups of a call the provider accepted.
	// Defaults to 2 s.
	Poll time.Duration
}

// Progress is told after every call.
type Progress struct {
	Route, Provider string
	Call, Of        int    // this is call Call of Of
	What            string // "run 1, test 2", "temperature 1", "canary", "prompt tokens"
	OK              bool
	Took            time.Duration
}

// Finding is an assertion that failed, with the answer that failed it.
type Finding struct {
	Violation

	What   string // which call
	Answer string // the content, at most maxAnswer bytes
}

// maxAnswer bounds how much of an answer a Finding shows.
const maxAnswer = 400

// Report is what a verification found.
type Report struct {
	Pair
	Contract string // its file
	Binding  string
	Proofs   []Proof
	Findings []Finding
	Calls    int
	// Inconclusive: a call the verdict rests on got no answer (not sent, busy,
	// unknown), so that nothing is proven and nothing disproven. An older
	// certificate stays.
	Inconclusive bool
	// Certificate is nil unless everything that is required was proven.
	Certificate *Certificate

	required []Property
	exempt   map[Property]string
}

// ErrRuns is returned for fewer than one run.
var ErrRuns = errors.New("a verification needs at least one run")

// Run verifies: every test of the contract runs times over, then what proves
// temperature and rendering. What is neither required nor stated in the contract
// is not called for. It returns an error only when it was called wrongly or ctx
// ended; that a provider fails is in the Report. progress may be nil.
func (v Verifier) Run(ctx context.Context, c *Contract, t Target, runs int, progress func(Progress)) (*Report, error) {
	if runs < 1 {
		return nil, ErrRuns
	}
	if t.Call == nil {
		return nil, fmt.Errorf("verifying %s for %s: it has no provider to call", t.Provider, t.Route)
	}
	binding, err := Bind(t, c)
	if err != nil {
		return nil, err
	}
	s, err := newSession(v, c, t, runs, progress)
	if err != nil {
		return nil, err
	}
	s.report = &Report{
		Pair: Pair{t.Route, t.Provider}, Contract: c.File, Binding: binding, required: c.Required(), exempt: c.Exempt,
	}
	s.tests(ctx)
	s.temperature(ctx)
	s.rendering(ctx)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("verifying %s for %s: %w", t.Provider, t.Route, err)
	}
	s.conclude()
	return s.report, nil
}

// conclude issues the certificate iff all that is required was proven.
func (s *session) conclude() {
	r := s.report
	r.Calls = s.made
	slices.SortStableFunc(r.Proofs, func(a, b Proof) int {
		return slices.Index(Properties(), a.Property) - slices.Index(Properties(), b.Property)
	})
	if slices.ContainsFunc(r.required, func(p Property) bool { return !r.Proven(p) }) {
		// A call that failed does not make open again what an answer contradicted.
		r.Inconclusive = !slices.ContainsFunc(r.required, func(p Property) bool { return !r.Proven(p) && !s.open[p] })
		return
	}
	now := s.verifier.now()
	lifetime := s.verifier.Lifetime
	if lifetime <= 0 {
		lifetime = DefaultLifetime
	}
	r.Certificate = &Certificate{
		ID: "cert_" + ulid.Make().String(), Route: r.Route, Provider: r.Provider, Model: s.target.Model,
		Binding: r.Binding, ContractHash: s.contract.Hash(), Proofs: r.Proofs, Required: r.required, Exempt: r.exempt,
		Runs: s.runs, Calls: r.Calls, AnswersSHA256: s.answersHash(), IssuedAt: now, ExpiresAt: now.Add(lifetime),
	}
}

// Proven tells whether the property was proven.
func (r *Report) Proven(p Property) bool { return Certificate{Proofs: r.Proofs}.Proven(p) }

// Breach is what to store when the verification found the contract broken, nil
// when it did not: it was certified, or it was inconclusive.
func (r *Report) Breach(at time.Time) *Breach {
	if r.Certificate != nil || r.Inconclusive {
		return nil
	}
	breach := &Breach{At: at, Binding: r.Binding}
	for _, p := range r.Proofs {
		if slices.Contains(r.required, p.Property) && !p.Proven {
			breach.Why = fmt.Sprintf("%s not proven: %s", p.Property, p.Evidence)
			break
		}
	}
	return breach
}

// Keep stores what a verification found: its certificate, or the breach. What was
// inconclusive changes nothing.
func (s *Store) Keep(ctx context.Context, r *Report, now time.Time) error {
	if r.Certificate != nil {
		return s.Put(ctx, r.Certificate)
	}
	if breach := r.Breach(now); breach != nil {
		return s.Break(ctx, r.Pair, *breach)
	}
	return nil
}

func (v Verifier) now() time.Time {
	if v.Now == nil {
		return time.Now().UTC()
	}
	return v.Now().UTC()
}
