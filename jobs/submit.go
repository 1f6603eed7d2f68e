package jobs

import (
	"context"
	"encoding/json"
	"fmt"
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
	start := ""
	if sub.StartWithin > 0 {
		start = fmt.Sprint(sub.StartWithin.Milliseconds())
	}
	v := verb{script: lua.Submit, jobID: sub.ID, actor: sub.Actor, args: append(make([]any, 0, 16),
		sub.Fingerprint, sub.ID, sub.Owner, owner, sub.Key, hash, sub.Route, sub.Provider,
		[]byte(sub.Input), []byte(sub.Params), []byte(sub.Metadata), sub.WebhookURL, start, wakeGrace.Milliseconds(),
		sub.Trace,
	)}
	v.args = append(v.args, s.schemaArgs()...)
	a, err := s.runOn(ctx, v, append(p.verbKeys(sub.ID), p.key(hash)))
	if err != nil {
		return Submitted{}, err
	}
	job, err := sub.job(a)
	if err != nil {
		return Submitted{}, err
	}
	submitted := Submitted{Job: job, Created: a.word == lua.Created}
	if submitted.Created && job.Attempts[0].State == AttemptStarting {
		submitted.Wakes = []Wake{{JobID: job.ID, Attempt: 1, Provider: job.Attempts[0].Provider, Owner: owner}}
	}
	return submitted, nil
}

// job is what was submitted, as it is now. Of one that was just made only the time
// is answered: the rest is known.
func (sub Submission) job(a *answer) (*Job, error) {
	if len(a.rest) != 1 {
		return nil, fmt.Errorf("submitting job %s: %d fields answered, want 1", a.detail, len(a.rest))
	}
	record, held := a.rest[0].([]any)
	if !held {
		job := sub.made(Time(num(a.rest[0])))
		job.Version, job.Revision, job.State = a.version, a.revision, a.state
		return job, nil
	}
	job, err := readRecord(a.detail, record)
	if err != nil {
		return nil, fmt.Errorf("reading the submitted job %s: %w", a.detail, err)
	}
	if job == nil {
		return nil, fmt.Errorf("the record of job %s, which holds the key, cannot be read; onejob fsck says more", a.detail)
	}
	return job, nil
}

// made is the record that lua/submit.lua writes.
func (sub Submission) made(at Time) *Job {
	job := &Job{
		ID: sub.ID, Owner: sub.Owner, Route: sub.Route, Provider: sub.Provider, IdempotencyKey: sub.Key,
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
