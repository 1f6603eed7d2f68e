package contracts

import "onejob/providers"

// Reasons of the definite failure that an answer is when it breaks a contract's
// output rules. Its call was made: the effect is done.
const (
	// ReasonTruncated: the finish reason says the answer was cut (length,
	// max_tokens), or its JSON stops in the middle.
	ReasonTruncated = "output_truncated"
	// ReasonUnfinished: the finish reason is none, or one that does not say that
	// the answer is whole.
	ReasonUnfinished = "output_unfinished"
	// ReasonEmpty: there is no content, because tools are called instead.
	ReasonEmpty = "output_empty"
	// ReasonFenced: JSON in a Markdown fence.
	ReasonFenced = "output_fenced"
	// ReasonProse: text instead of JSON, or around it.
	ReasonProse = "output_prose"
	// ReasonNotJSON: what was meant as JSON cannot be read as such.
	ReasonNotJSON = "output_not_json"
	// ReasonExtraKeys: members that the schema does not allow.
	ReasonExtraKeys = "output_extra_keys"
	// ReasonWrongType: a value of another type than the schema's.
	ReasonWrongType = "output_wrong_type"
	// ReasonViolation: any other rule of the contract.
	ReasonViolation = "contract_violation"
	// ReasonRefused: the content was refused. Never retried (design §6).
	ReasonRefused = providers.ReasonRefused
)

// Reasons are all of them, for documentation and metrics.
func Reasons() []string {
	return []string{
		ReasonTruncated, ReasonUnfinished, ReasonEmpty, ReasonFenced, ReasonProse, ReasonNotJSON,
		ReasonExtraKeys, ReasonWrongType, ReasonViolation, ReasonRefused,
	}
}

// EffectsNone is a route's word that its calls change nothing in the world
// (design §8).
const EffectsNone = "none"

// Retryable tells whether a failure of this reason may be followed by another
// attempt, at the same provider or the next. Only on a route with effects: none:
// the call that broke the contract was made, and where calls change something,
// another one is a second effect for a person to decide on. A refusal is an answer
// about the request and never retried.
func Retryable(reason, effects string) bool {
	return effects == EffectsNone && reason != ReasonRefused
}
