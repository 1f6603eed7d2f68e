package auth

import "errors"

// Errors of this package, to be told apart with errors.Is. Their texts are fit
// for the caller: no secrets, no digests.
var (
	// ErrUnauthorized: the key is missing, malformed, unknown, revoked or expired.
	// An API answers 401.
	ErrUnauthorized = errors.New("unauthorized")

	// ErrUnavailable: the store could not be asked, so nothing is known of the
	// key. An API answers 503.
	ErrUnavailable = errors.New("the store of API keys cannot be reached")

	// ErrNotFound: there is no key with that id.
	ErrNotFound = errors.New("no such API key")
)
