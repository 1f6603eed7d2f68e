package contracts

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Certificate is the record that a provider satisfied a route's contract in real
// round trips.
type Certificate struct {
	ID           string              `json:"id"` // "cert_" and a ULID
	Route        string              `json:"route"`
	Provider     string              `json:"provider"`
	Model        string              `json:"model,omitempty"`
	Binding      string              `json:"binding"` // see Bind
	ContractHash string              `json:"contract_hash"`
	Proofs       []Proof             `json:"proofs"`
	Required     []Property          `json:"required"` // without the exempt ones
	Exempt       map[Property]string `json:"exempt,omitempty"`
	Runs         int                 `json:"runs"`
	Calls        int                 `json:"calls"`
	// AnswersSHA256 is over the raw results in the order of the calls, each with
	// its length before it.
	AnswersSHA256 string    `json:"answers_sha256"`
	IssuedAt      time.Time `json:"issued_at"`
	ExpiresAt     time.Time `json:"expires_at"`
}

// Proof says of one property whether it was proven, and by what.
type Proof struct {
	Property Property `json:"property"`
	Proven   bool     `json:"proven"`
	Evidence string   `json:"evidence"` // one line for people
}

// Why a certificate does not allow a fail-over.
var (
	// ErrNoCertificate: there is none.
	ErrNoCertificate = errors.New("there is no certificate")
	// ErrVoid: what it was issued for has changed.
	ErrVoid = errors.New("the certificate is void: the provider's model, address or options, or the contract, have changed since it was issued")
	// ErrExpired: its time is over.
	ErrExpired = errors.New("the certificate has expired")
	// ErrUnproven: a property that is required was not proven.
	ErrUnproven = errors.New("the certificate does not prove what the contract requires")
	// ErrBroken: a later verification found the contract broken.
	ErrBroken = errors.New("a verification since then found the contract broken")
)

// Proven tells whether the property was proven.
func (c Certificate) Proven(p Property) bool {
	return slices.ContainsFunc(c.Proofs, func(proof Proof) bool { return proof.Property == p && proof.Proven })
}

// Valid returns nil when the certificate allows a fail-over now to the target and
// contract of this binding, else ErrVoid, ErrExpired or ErrUnproven.
func (c Certificate) Valid(binding string, now time.Time) error {
	switch {
	case c.ID == "" || binding == "" || c.Binding != binding:
		return ErrVoid
	case !now.Before(c.ExpiresAt):
		return fmt.Errorf("%w (at %s)", ErrExpired, c.ExpiresAt.UTC().Format(time.RFC3339))
	}
	for _, p := range c.Required {
		if !c.Proven(p) {
			return fmt.Errorf("%w: %s", ErrUnproven, p)
		}
	}
	return nil
}
