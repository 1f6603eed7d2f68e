//go:build schema2

package lua

// Schema is one more than the release's: a build with the tag schema2 is the release
// after it, for tests of the two beside each other.
const Schema = 2

// layouts has a second one whose columns have other places, with one column more, and
// whose own fields have other names.
var layouts = []Layout{firstLayout, {
	Job: columns(
		[]string{
			"owner", "owner_hash", "key", "key_hash", "fingerprint", "route", "origin", "provider", "created", "attempts",
			"version", "state", "updated", "events", "revision",
		},
		[]string{"expires", "ended", "completed_by", "result_digest", "error_provider", "error_attempt", "error_code"},
		[]string{"hold", "hooks_off", "hooks", "start_by", "epoch", "trace"},
	),
	Attempt: columns(
		[]string{"provider", "not_before", "state", "created"},
		[]string{"lease", "deadline", "token", "fence", "finished", "sent", "effect", "wakes"},
		[]string{
			"unknown_at", "reason", "evidence", "cancels", "looked_at", "lookup", "lookups", "lookup_at",
			"late_reason", "late_at", "late_bytes", "late_sha256", "certificate",
		},
	),
	Delivery: columns(
		[]string{"state", "event", "at", "next", "tries"},
		[]string{"lease", "wakes", "delivered", "code", "token"},
		nil,
	),
	Names:   map[string]string{"result": "output", ".handle": ".ref"},
	Opening: map[string]string{"origin": "submit"},
}}
