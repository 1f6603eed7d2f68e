// Package auth knows who is calling: API keys, the owners they belong to, and
// what their roles may do (design §7).
//
// A key is a secret of 256 random bits, shown once when it is made. Redis holds
// its SHA-256 alone, so a copy of the store opens nothing. A plain digest is
// enough, without salt or stretching, because there is nothing to guess: the
// secrets are random, not chosen by people.
//
// An answer is remembered in the process for at most CacheTTL (5 s): a request
// normally costs no round trip, and a revoked key can go on working in other
// processes for that long, no longer. With Redis away, a key that is not
// remembered is ErrUnavailable, never ErrUnauthorized: nobody is told that his
// key is bad because the store could not be asked.
package auth

import "fmt"

// Role is what a key may do.
type Role string

// Roles. An owner's own jobs are what his submit keys made; viewers and
// operators see everybody's (design §7).
const (
	Submit   Role = "submit"   // submit jobs; see, cancel and retry its owner's
	Viewer   Role = "viewer"   // see every owner's jobs, change nothing
	Operator Role = "operator" // everything, for every owner
)

// Roles lists every role.
var Roles = []Role{Submit, Viewer, Operator}

// ParseRole returns the role of that name, or an error that lists them.
func ParseRole(name string) (Role, error) {
	for _, role := range Roles {
		if name == string(role) {
			return role, nil
		}
	}
	return "", fmt.Errorf("%q is not a role; allowed: submit, viewer, operator", name)
}

// Identity is who a request comes from.
type Identity struct {
	Owner string // whom idempotency keys and jobs belong to
	Role  Role
	KeyID string // names the key in logs and audit trails; not secret
}

// SeesEveryone tells whether every owner's jobs may be read.
func (i Identity) SeesEveryone() bool { return i.Role == Viewer || i.Role == Operator }

// MayWrite tells whether jobs may be submitted and changed at all.
func (i Identity) MayWrite() bool { return i.Role == Submit || i.Role == Operator }

// MayOperate tells whether attempts may be resolved and other owners' jobs
// changed.
func (i Identity) MayOperate() bool { return i.Role == Operator }

// MayRead tells whether jobs of that owner may be read. Who may not is answered
// as if there were none (design §7).
func (i Identity) MayRead(owner string) bool { return i.SeesEveryone() || i.Owner == owner }
