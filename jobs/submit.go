package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"onejob/lua"
)

// wakeGrace is how long a submitter has to enqueue the first wake-up before the
// sweeper does it for him.
const wakeGrace = 5 * time.Second

// Submission is one intent: who wants what, under which key.
type Submission struct {
	ID          string // made by Submit when empty; the same id again is the same submission
	Owner       string
	Key         string // idempotency key
	Fingerprint string // of the canonical request
	Route       string
	Provider    string // of the first attempt
	Input       json.RawMessage
	Params      json.RawMessage
	Metadata    json.RawMessage
	WebhookURL  string
	StartWithin time.Duration // 0: whenever
	Actor       string        // for the trail; the owner when empty
	Trace       string        // W3C trace context, kept with a new job; no part of the intent
}

// Submitted is the job that holds the key.
type Submitted struct {
	Job     *Job
	Created bool // false: the same intent was submitted before
	Wakes   []Wake
}

// Submit reserves the key and records the job, in one script (I1, I7). The same
// key with the same fingerprint gives the job as it is now; a Refusal with
// CodeConflict says that the key belongs to another intent (I8), CodeExpired
// that its record has gone. Submit does not enqueue: give the Wakes to the queue.
func (s *Store) Submit(ctx context.Context, sub Submission) (Submitted, error) {
	p := partition(partitionOf(sub.Owner, sub.Key))
	if sub.ID == "" {
		sub.ID = newIDIn(int(p))
	}
	if sub.Actor == "" {
		sub.Actor = sub.Owner
	}
	hash, owner := keyHash(sub.Owner, sub.Key), OwnerHash(sub.Owner)
	raw, err := s.ask(ctx, lua.Submit, sub.ID, append(p.verbKeys(sub.ID), p.key(hash)), sub.argv(owner, s.schema.Load()))
	if err != nil {
		return Submitted{}, err
	}
	word, job, err := sub.job(raw)
	if err != nil {
		return Submitted{}, err
	}
	submitted := Submitted{Job: job, Created: word == lua.Created}
	if submitted.Created && len(job.Attempts) > 0 && job.Attempts[0].State == AttemptStarting {
		submitted.Wakes = []Wake{{JobID: job.ID, Attempt: 1, Provider: job.Attempts[0].Provider, Owner: owner}}
	}
	return submitted, nil
}

// argv is what lua/submit.lua is given.
func (sub Submission) argv(owner string, schema int64) []any {
	start := ""
	if sub.StartWithin > 0 {
		start = strconv.FormatInt(sub.StartWithin.Milliseconds(), 10)
	}
	argv := append(make([]any, 0, 15),
		sub.Actor, sub.Fingerprint, sub.Owner, owner, sub.Key, sub.Route, sub.Provider,
		[]byte(sub.Input), []byte(sub.Params), []byte(sub.Metadata), sub.WebhookURL, start, wakeGrace.Milliseconds(), sub.Trace)
	if schema > firstSchema { // the first needs no telling
		argv = append(argv, schema)
	}
	return argv
}

// job is what lua/submit.lua answers: its word, and the job that holds the key as it is
// now. Of one that was just made only the time is answered: the rest is known.
func (sub Submission) job(raw []any) (lua.Answer, *Job, error) {
	if len(raw) < 3 {
		return "", nil, fmt.Errorf("submitting job %s: %d fields answered, want at least 3", sub.ID, len(raw))
	}
	word, id, rest := lua.Answer(str(raw[0])), str(raw[2]), raw[3:]
	if code, refused := refusals[word]; refused {
		return word, nil, &Refusal{Code: code, JobID: id}
	}
	if len(rest) != 1 {
		return word, nil, fmt.Errorf("submitting job %s: %d fields answered after %s, want 1", sub.ID, len(rest), word)
	}
	if word == lua.NewerSchema {
		return word, nil, &NewerSchema{JobID: id, Schema: str(rest[0])}
	}
	record, held := rest[0].([]any)
	if !held {
		return word, sub.made(Time(num(rest[0]))), nil
	}
	job, err := readRecord(id, record)
	if err != nil {
		return word, nil, fmt.Errorf("reading the submitted job %s: %w", id, err)
	}
	if job == nil {
		return word, nil, fmt.Errorf("the record of job %s, which holds the key, cannot be read; onejob fsck says more", id)
	}
	return word, job, nil
}

// made is the record that lua/submit.lua writes.
func (sub Submission) made(at Time) *Job {
	job := &Job{
		ID: sub.ID, Owner: sub.Owner, Route: sub.Route, Provider: sub.Provider, IdempotencyKey: sub.Key,
		State: Queued, Version: 1, Revision: 1,
		Input: sub.Input, Params: sub.Params, Metadata: sub.Metadata, WebhookURL: sub.WebhookURL,
		CreatedAt: at, UpdatedAt: at, Fingerprint: sub.Fingerprint, Trace: sub.Trace,
		Attempts: []Attempt{{
			Number: 1, ID: AttemptID(sub.ID, 1), Provider: sub.Provider, State: AttemptStarting, Effect: "none",
			CreatedAt: at, NotBefore: at,
		}},
	}
	if sub.StartWithin > 0 {
		job.StartBy = at + Time(sub.StartWithin.Milliseconds())
	}
	job.BlockedBy = blockOf(job)
	job.Next = nextOf(job)
	return job
}
