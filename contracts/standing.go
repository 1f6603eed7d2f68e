package contracts

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Standing is how the certificate of a route's provider stands now.
type Standing struct {
	Pair
	State       string       `json:"state"`
	Why         string       `json:"why,omitempty"` // for any state but valid
	Certificate *Certificate `json:"certificate,omitempty"`
	Hint        string       `json:"hint,omitempty"` // what to do
}

// States of a Standing.
const (
	StateValid   = "valid"
	StateMissing = "missing"
	StateVoid    = "void"     // what it is bound to has changed
	StateExpired = "expired"  // its time is over
	StateBroken  = "broken"   // a later verification failed
	StateLacking = "unproven" // it does not prove what is required
)

// States are all of them, for metrics.
func States() []string {
	return []string{StateValid, StateMissing, StateVoid, StateExpired, StateBroken, StateLacking}
}

// Command is what certifies the pair.
func (p Pair) Command() string {
	return fmt.Sprintf("onejob contract verify --route %s --provider %s", p.Route, p.Provider)
}

func standing(r Record, binding string, now time.Time) Standing {
	s := Standing{Pair: r.Pair, Certificate: r.Certificate}
	err := r.Valid(binding, now)
	switch {
	case err == nil:
		s.State = StateValid
		return s
	case errors.Is(err, ErrNoCertificate):
		s.State = StateMissing
	case errors.Is(err, ErrVoid):
		s.State = StateVoid
	case errors.Is(err, ErrExpired):
		s.State = StateExpired
	case errors.Is(err, ErrBroken):
		s.State = StateBroken
	default:
		s.State = StateLacking
	}
	s.Why, s.Hint = err.Error(), r.Command()
	return s
}

// Valid is Certificate.Valid, with ErrNoCertificate where there is none and
// ErrBroken where a later verification of the same binding found a breach.
func (r Record) Valid(binding string, now time.Time) error {
	if b := r.Breach; b != nil && b.Binding == binding {
		return fmt.Errorf("%w: %s", ErrBroken, b.Why)
	}
	if r.Certificate == nil {
		return ErrNoCertificate
	}
	return r.Certificate.Valid(binding, now)
}

// WriteStandings prints them as a table.
func WriteStandings(w io.Writer, standings []Standing) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ROUTE\tPROVIDER\tSTATE\tCERTIFICATE\tEXPIRES\tPROVEN\tWHY")
	for _, s := range standings {
		id, expires, proven := "-", "-", "-"
		if c := s.Certificate; c != nil {
			id, expires, proven = c.ID, c.ExpiresAt.UTC().Format(time.RFC3339), c.proven()
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Route, s.Provider, s.State, id, expires, proven, s.Why)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the certificates: %w", err)
	}
	return nil
}

// proven lists what was proven, and what is exempt, in few words.
func (c Certificate) proven() string {
	var words []string
	for _, p := range c.Proofs {
		_, exempt := c.Exempt[p.Property]
		switch {
		case p.Proven:
			words = append(words, string(p.Property))
		case exempt:
			words = append(words, "("+string(p.Property)+" exempt)")
		}
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}
