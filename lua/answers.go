package lua

// Answer is the first word a script replies.
type Answer string

// The table of answers. What each script can answer is in its header.
const (
	// Done.
	Created   Answer = "created"
	Exists    Answer = "exists"
	Claimed   Answer = "claimed"
	Beating   Answer = "beating"
	HandleSet Answer = "accepted"
	Suspected Answer = "suspected"
	Won       Answer = "won"
	FailedNow Answer = "failed"
	Opened    Answer = "opened"
	Resolved  Answer = "resolved"
	Cancelled Answer = "cancelled"

	// Not done, and nothing to worry about.
	NotStarting  Answer = "not_starting"
	TooEarly     Answer = "too_early"
	StartExpired Answer = "start_expired"
	Revoked      Answer = "revoked"
	NotRunning   Answer = "not_running"
	NotLapsed    Answer = "not_lapsed"
	NotRacing    Answer = "not_racing"
	Late         Answer = "late"
	HeldBack     Answer = "held"
	Noted        Answer = "noted"

	// Of deliveries.
	Taken        Answer = "taken"
	NotPending   Answer = "not_pending"
	NotTaken     Answer = "not_taken"
	Redelivering Answer = "redelivering"

	// Refused.
	NotFound        Answer = "not_found"
	NoAttempt       Answer = "no_attempt"
	Conflict        Answer = "conflict"
	Gone            Answer = "gone"
	JobFinal        Answer = "job_final"
	VersionMismatch Answer = "version_mismatch"
	AttemptOpen     Answer = "attempt_open"
	AttemptTerminal Answer = "attempt_terminal"
	NotUnknown      Answer = "not_unknown"
	Expiring        Answer = "expiring"
	NoWebhook       Answer = "no_webhook"
	NewerSchema     Answer = "newer_schema"
)
