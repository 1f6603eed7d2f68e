package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"onejob/lua"
)

// Look notes what a look-up said that settled nothing.
func (s *Store) Look(ctx context.Context, jobID string, attempt int, said string) error {
	_, err := s.run(ctx, verb{script: lua.Look, jobID: jobID, op: NewOp(), actor: "reconciler", args: []any{attempt, said}})
	return err
}

// Note adds a line to the trail of an attempt.
func (s *Store) Note(ctx context.Context, jobID string, attempt int, what, reason string) error {
	_, err := s.run(ctx, verb{script: lua.Note, jobID: jobID, op: NewOp(), actor: "reconciler", args: []any{attempt, what, reason}})
	return err
}

// Race opens an attempt at the next provider beside a silent one (§6). No wake:
// there is nothing to race any more, or nobody to race it with; why tells.
func (s *Store) Race(ctx context.Context, jobID string, silent int, policy *Policy) (wakes []Wake, why string, err error) {
	plan, err := json.Marshal(policy)
	if err != nil {
		return nil, "", fmt.Errorf("writing the policy of job %s: %w", jobID, err)
	}
	a, err := s.run(ctx, verb{script: lua.Race, jobID: jobID, op: NewOp(), actor: "sweeper", args: []any{silent, plan}})
	if err != nil {
		return nil, "", err
	}
	return a.wakes(), a.detail, nil
}

// ExpireStart ends a job nobody started in the time it was given; nothing happens
// when it was started, or has time left.
func (s *Store) ExpireStart(ctx context.Context, jobID string, attempt int) error {
	_, err := s.run(ctx, verb{script: lua.ExpireStart, jobID: jobID, op: NewOp(), actor: "sweeper", args: []any{attempt}})
	return err
}

// Mend compares a job's indexes, key, due entries and times to live with its
// record (I11) and tells what does not agree; with repair, it makes them. A
// NewerSchema says that nothing could be compared.
func (s *Store) Mend(ctx context.Context, jobID string, repair bool) ([]string, error) {
	p, ok := partitionOfID(jobID)
	if !ok {
		return nil, &Refusal{Code: CodeNotFound, JobID: jobID}
	}
	flag := 0
	if repair {
		flag = 1
	}
	argv := s.argv(verb{op: NewOp(), actor: "fsck", args: []any{flag}})
	found, err := lua.Mend.Run(ctx, s.rdb, partition(p).verbKeys(jobID), argv...).StringSlice()
	if err != nil {
		return nil, fmt.Errorf("mending job %s: %w", jobID, err)
	}
	if len(found) == 2 && found[0] == string(lua.NewerSchema) {
		return nil, &NewerSchema{JobID: jobID, Schema: found[1]}
	}
	if len(found) == 0 || found[0] != "mended" {
		return nil, &Refusal{Code: CodeNotFound, JobID: jobID}
	}
	return found[1:], nil
}

// Unmendable tells whether a problem Mend found cannot be repaired.
func Unmendable(problem string) bool { return strings.HasSuffix(problem, "nothing can mend that") }
