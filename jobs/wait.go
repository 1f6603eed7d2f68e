package jobs

import (
	"context"

	"onejob/lua"
)

// VerbWait is the verb of the trail's line that Wait leaves.
const VerbWait = "wait"

// Wait notes on the trail that a person has looked at an attempt and leaves it as it
// is, with the reason. Nothing else changes; the expected version is not asked for,
// because nothing rests on it. A Refusal says CodeNotFound or CodeNoAttempt.
func (s *Store) Wait(ctx context.Context, d Decision) (Changed, error) {
	return s.decide(ctx, lua.Note, d, d.Attempt, VerbWait, d.Reason)
}
