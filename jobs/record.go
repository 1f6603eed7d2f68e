package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"onejob/lua"
)

// Get returns a job as it is now, its attempts read in the same instant. The
// error is a Refusal with CodeNotFound when there is none, or its record expired; a
// NewerSchema when a newer onejob wrote it.
func (s *Store) Get(ctx context.Context, id string) (*Job, error) {
	p, ok := partitionOfID(id)
	if !ok {
		return nil, &Refusal{Code: CodeNotFound, JobID: id}
	}
	keys := partition(p)
	record, err := lua.Read.Run(ctx, s.options.Scripts, []string{keys.job(id)}, readAll).Slice()
	if err != nil {
		return nil, fmt.Errorf("reading job %s: %w", id, err)
	}
	job, err := readRecord(id, record)
	if err == nil && job == nil {
		return nil, &Refusal{Code: CodeNotFound, JobID: id}
	}
	return job, err
}

// getAll reads many jobs in one round trip, in the order of ids; those that are
// not there are left out, and those a newer onejob wrote are counted.
func (s *Store) getAll(ctx context.Context, ids []string) (found []*Job, newer int, err error) {
	records, err := s.readMany(ctx, ids, readAll)
	if err != nil {
		return nil, 0, fmt.Errorf("reading %d jobs: %w", len(ids), err)
	}
	found = make([]*Job, 0, len(records))
	for _, r := range records {
		job, err := readRecord(r.id, r.command.Val().([]any))
		if _, ok := errors.AsType[*NewerSchema](err); ok {
			newer++
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		if job != nil {
			found = append(found, job)
		}
	}
	return found, newer, nil
}

// someOf reads of many jobs what is small.
func (s *Store) someOf(ctx context.Context, ids []string) ([]asked, error) {
	return s.readMany(ctx, ids, readSmall)
}

// asked is a record that was asked for; what is no id of a job never is.
type asked struct {
	id      string
	command *redis.Cmd
}

// What of a record is read (lua/read.lua).
const (
	readAll   = "all"
	readSmall = "small"
)

// readMany reads many records, or of them what is small, in one round trip.
func (s *Store) readMany(ctx context.Context, ids []string, what string) ([]asked, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	records, err := s.askAll(ctx, ids, what)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err := lua.Read.Load(ctx, s.rdb).Err(); err != nil {
			return nil, fmt.Errorf("loading the read script: %w", err)
		}
		records, err = s.askAll(ctx, ids, what)
	}
	return records, err
}

func (s *Store) askAll(ctx context.Context, ids []string, what string) ([]asked, error) {
	pipe := s.rdb.Pipeline()
	records := make([]asked, 0, len(ids))
	for _, id := range ids {
		if p, ok := partitionOfID(id); ok {
			records = append(records, asked{id, lua.Read.EvalSha(ctx, pipe, []string{partition(p).job(id)}, what)})
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("reading records: %w", err)
	}
	return records, nil
}

// readRecord decodes a record; nil when there is none.
func readRecord(id string, record []any) (*Job, error) {
	if len(record) == 0 {
		return nil, nil
	}
	f, err := readFields(id, record)
	if err != nil {
		return nil, err
	}
	if f.own.at("state") == "" {
		return nil, nil // somebody has damaged it: see mend.lua
	}
	return decodeJob(id, f), nil
}

func decodeJob(id string, f *recordFields) *Job {
	own := f.own
	job := &Job{
		ID: id, Owner: own.at("owner"), Route: own.at("route"), Provider: own.at("provider"),
		IdempotencyKey: own.at("key"), State: State(own.at("state")), Version: whole(own.at("version")),
		Input: raw(own.at("input")), Params: raw(own.at("params")), Metadata: raw(own.at("metadata")),
		WebhookURL: own.at("webhook_url"), Result: raw(own.at("result")),
		CompletedBy: int(whole(own.at("completed_by"))), Hold: own.at("hold"),
		CreatedAt: moment(own.at("created")), UpdatedAt: moment(own.at("updated")),
		StartBy: moment(own.at("start_by")), EndedAt: moment(own.at("ended")), ExpiresAt: moment(own.at("expires")),
		Revision: whole(own.at("revision")), Fingerprint: own.at("fingerprint"), Trace: own.at("trace"),
	}
	if code := own.at("error_code"); code != "" && job.State == Failed {
		job.Error = explain(job, code, own)
	}
	job.Attempts = decodeAttempts(job.ID, f)
	job.Webhooks = decodeWebhooks(job.ID, f)
	job.BlockedBy = blockOf(job)
	job.Next = nextOf(job)
	return job
}

func decodeAttempts(jobID string, f *recordFields) []Attempt {
	attempts := make([]Attempt, 0, len(f.attempts))
	for _, a := range f.attempts {
		attempts = append(attempts, decodeAttempt(jobID, a.number, a.fields))
	}
	return attempts
}

func decodeAttempt(jobID string, n int, f fieldList) Attempt {
	a := Attempt{
		Number: n, ID: AttemptID(jobID, n), Provider: f.at("provider"), State: AttemptState(f.at("state")),
		Fence: whole(f.at("fence")), Reason: f.at("reason"), Error: f.at("error"), Effect: f.at("effect"),
		Evidence: readEvidence(f.at("evidence")), Handle: f.at("handle"), Certificate: f.at("certificate"), Usage: raw(f.at("usage")),
		CreatedAt: moment(f.at("created")), NotBefore: moment(f.at("not_before")), SentAt: moment(f.at("sent")),
		UnknownAt: moment(f.at("unknown_at")), FinishedAt: moment(f.at("finished")),
		Deadline: moment(f.at("deadline")), Lease: moment(f.at("lease")), lookupAt: moment(f.at("lookup_at")),
	}
	if a.Effect == "" {
		a.Effect = effectOf(&a)
	}
	if f.at("lookup") != "" {
		a.Lookup = &Lookup{Said: f.at("lookup"), At: moment(f.at("looked_at")), Times: int(whole(f.at("lookups")))}
	}
	if f.at("late_sha256") != "" {
		a.LateResult = &LateResult{
			SHA256: f.at("late_sha256"), Bytes: whole(f.at("late_bytes")), At: moment(f.at("late_at")), Reason: f.at("late_reason"),
		}
	}
	return a
}

// effectOf is the effect of an attempt nobody has reported on: none before it
// was claimed, else unknown.
func effectOf(a *Attempt) string {
	if a.Fence == 0 {
		return "none"
	}
	return "unknown"
}

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

func moment(s string) Time { return Time(whole(s)) }
