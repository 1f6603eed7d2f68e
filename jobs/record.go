package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

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
	record, err := lua.Read.Run(ctx, s.options.Scripts, []string{keys.job(id), keys.data(id)}).Slice()
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
	records, err := s.readAll(ctx, ids, func(p partition, id string) []string { return []string{p.job(id), p.data(id)} })
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

// readSmall reads of many jobs what is small.
func (s *Store) readSmall(ctx context.Context, ids []string) ([]asked, error) {
	return s.readAll(ctx, ids, func(p partition, id string) []string { return []string{p.job(id)} })
}

// asked is a record that was asked for; what is no id of a job never is.
type asked struct {
	id      string
	command *redis.Cmd
}

// readAll asks for the parts that keys names of many records, in one round trip.
func (s *Store) readAll(ctx context.Context, ids []string, keys func(partition, string) []string) ([]asked, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	records, err := s.askAll(ctx, ids, keys)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err := lua.Read.Load(ctx, s.rdb).Err(); err != nil {
			return nil, fmt.Errorf("loading the read script: %w", err)
		}
		records, err = s.askAll(ctx, ids, keys)
	}
	return records, err
}

func (s *Store) askAll(ctx context.Context, ids []string, keys func(partition, string) []string) ([]asked, error) {
	pipe := s.rdb.Pipeline()
	records := make([]asked, 0, len(ids))
	for _, id := range ids {
		if p, ok := partitionOfID(id); ok {
			records = append(records, asked{id, lua.Read.EvalSha(ctx, pipe, keys(partition(p), id))})
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("reading records: %w", err)
	}
	return records, nil
}

// readRecord decodes {small fields, large fields} of a job and its attempts; nil
// when there is no record.
func readRecord(id string, record []any) (*Job, error) {
	if len(record) != 2 {
		return nil, fmt.Errorf("a record has %d parts, want 2", len(record))
	}
	fields := fieldMap(record[0])
	if newer := newerSchema(id, fields["v"]); newer != nil {
		return nil, newer
	}
	if fields["state"] == "" {
		return nil, nil
	}
	addFields(fields, record[1])
	return decodeJob(id, fields)
}

func fieldMap(v any) map[string]string {
	flat, _ := v.([]any)
	fields := make(map[string]string, len(flat))
	addFields(fields, v)
	return fields
}

func addFields(fields map[string]string, v any) {
	flat, _ := v.([]any)
	for i := 0; i+1 < len(flat); i += 2 {
		fields[str(flat[i])] = str(flat[i+1])
	}
}

func decodeJob(id string, fields map[string]string) (*Job, error) {
	job := &Job{
		ID: id, Owner: fields["owner"], Route: fields["route"], Provider: fields["provider"],
		IdempotencyKey: fields["key"], State: State(fields["state"]), Version: num(fields["version"]),
		Input: raw(fields["input"]), Params: raw(fields["params"]), Metadata: raw(fields["metadata"]),
		WebhookURL: fields["webhook_url"], Result: raw(fields["result"]),
		CompletedBy: int(num(fields["completed_by"])), Hold: fields["hold"],
		CreatedAt: moment(fields["created"]), UpdatedAt: moment(fields["updated"]),
		StartBy: moment(fields["start_by"]), EndedAt: moment(fields["ended"]), ExpiresAt: moment(fields["expires"]),
		Revision: num(fields["revision"]), Fingerprint: fields["fingerprint"], Trace: fields["trace"],
	}
	if code := fields["error_code"]; code != "" && job.State == Failed {
		job.Error = explain(job, code, fields)
	}
	job.Attempts = decodeAttempts(job.ID, fields)
	job.Webhooks = decodeWebhooks(job.ID, fields)
	job.BlockedBy = blockOf(job)
	job.Next = nextOf(job)
	return job, nil
}

func decodeAttempts(jobID string, fields map[string]string) []Attempt {
	byNumber := map[int]map[string]string{}
	for name, value := range fields {
		number, field, ok := strings.Cut(name, ".")
		n, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		if byNumber[n] == nil {
			byNumber[n] = map[string]string{}
		}
		byNumber[n][field] = value
	}
	attempts := make([]Attempt, 0, len(byNumber))
	for n, f := range byNumber {
		attempts = append(attempts, decodeAttempt(jobID, n, f))
	}
	sort.Slice(attempts, func(i, j int) bool { return attempts[i].Number < attempts[j].Number })
	return attempts
}

func decodeAttempt(jobID string, n int, f map[string]string) Attempt {
	a := Attempt{
		Number: n, ID: AttemptID(jobID, n), Provider: f["provider"], State: AttemptState(f["state"]),
		Fence: num(f["fence"]), Reason: f["reason"], Error: f["error"], Effect: f["effect"],
		Evidence: raw(f["evidence"]), Handle: f["handle"], Certificate: f["certificate"], Usage: raw(f["usage"]),
		CreatedAt: moment(f["created"]), NotBefore: moment(f["not_before"]), SentAt: moment(f["sent"]),
		UnknownAt: moment(f["unknown_at"]), FinishedAt: moment(f["finished"]),
		Deadline: moment(f["deadline"]), Lease: moment(f["lease"]), lookupAt: moment(f["lookup_at"]),
	}
	if a.Effect == "" {
		a.Effect = effectOf(&a)
	}
	if f["lookup"] != "" {
		a.Lookup = &Lookup{Said: f["lookup"], At: moment(f["looked_at"]), Times: int(num(f["lookups"]))}
	}
	if f["late_sha256"] != "" {
		a.LateResult = &LateResult{
			SHA256: f["late_sha256"], Bytes: num(f["late_bytes"]), At: moment(f["late_at"]), Reason: f["late_reason"],
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

func moment(s string) Time { return Time(num(s)) }
