// Package jobs is the record of jobs and attempts in Redis.
//
// It guarantees the invariants I1 to I9 of the design by asking the scripts of
// package lua, which decide; nothing here does. What Redis forgets (a crash
// without fsync, a failover to a replica that lags) it cannot promise.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/lua"
)

// Options are how long records are kept and attempts leased.
type Options struct {
	// KeepJob is how long the record of an ended job is kept. Defaults to 72 h.
	KeepJob time.Duration
	// KeepKey is how long the key of an ended job is kept. Defaults to 30 days;
	// never less than KeepJob.
	KeepKey time.Duration
	// Lease is how long a claim holds without a beat. Defaults to 15 s.
	Lease time.Duration
	// WaitReplicas is how many replicas must have a claim before its call may
	// leave. Defaults to 0.
	WaitReplicas int
	// Clockwork notices a store that went back in time. Defaults to none.
	Clockwork *Clockwork
	// Scripts runs the verbs. Defaults to the client itself.
	Scripts lua.Caller
}

func (o Options) withDefaults() Options {
	if o.KeepJob == 0 {
		o.KeepJob = 72 * time.Hour
	}
	if o.KeepKey == 0 {
		o.KeepKey = 30 * 24 * time.Hour
	}
	if o.Lease == 0 {
		o.Lease = 15 * time.Second
	}
	return o
}

// Store asks the scripts. It is safe for concurrent use.
type Store struct {
	rdb      redis.UniversalClient
	options  Options
	verbs    *lua.Runner
	watchers *watchers
	schema   atomic.Int64 // that new jobs are recorded with; 0: the first
}

// NewStore returns a Store over rdb, which it does not close.
func NewStore(rdb redis.UniversalClient, options Options) *Store {
	options = options.withDefaults()
	if options.Scripts == nil {
		options.Scripts = rdb
	}
	return &Store{rdb: rdb, options: options, verbs: lua.NewRunner(rdb, options.Scripts), watchers: newWatchers(rdb)}
}

// Close ends all watches.
func (s *Store) Close() error { return s.watchers.close() }

// Lease is how long a claim holds without a beat.
func (s *Store) Lease() time.Duration { return s.options.Lease }

// Wake names an attempt that is to be woken.
type Wake struct {
	JobID    string
	Attempt  int
	Provider string
	Owner    string        // OwnerHash of the job's; empty: not known
	In       time.Duration // not before that much time has passed
	Tries    int           // wake-ups made for it before this one
}

// verb is one call of a script on one job.
type verb struct {
	script *redis.Script
	jobID  string
	op     string
	actor  string
	args   []any
}

func (s *Store) run(ctx context.Context, v verb) (*answer, error) {
	p, ok := partitionOfID(v.jobID)
	if !ok {
		return nil, &Refusal{Code: CodeNotFound, JobID: v.jobID}
	}
	return s.runOn(ctx, v, partition(p).verbKeys(v.jobID))
}

func (s *Store) runOn(ctx context.Context, v verb, keys []string) (*answer, error) {
	raw, err := s.ask(ctx, v.script, v.jobID, keys, s.argv(v))
	if err != nil {
		return nil, err
	}
	return readAnswer(v.jobID, raw)
}

// ask runs a script on a job.
func (s *Store) ask(ctx context.Context, script *redis.Script, jobID string, keys []string, argv []any) ([]any, error) {
	known := s.known(keys[0])
	raw, err := s.verbs.Run(ctx, script, keys, argv...).Slice()
	if err != nil {
		return nil, fmt.Errorf("running a script on job %s: %w", jobID, err)
	}
	return raw, s.heard(ctx, keys, known, raw)
}

// known is the highest seq this process has been given by the partition of a key.
func (s *Store) known(key string) int64 {
	if s.options.Clockwork == nil {
		return 0
	}
	return s.options.Clockwork.before(key)
}

// errWentBack is answered for a verb whose answer shows that the store lost what it
// had acknowledged. The verb may have been done; nothing is to be made of it.
var errWentBack = errors.New("the store went back in time")

// heard keeps the seq of an answer before anything is made of it.
func (s *Store) heard(ctx context.Context, keys []string, known int64, raw []any) error {
	if p, ok := partitionOfKey(keys[0]); ok && s.options.Clockwork != nil && len(raw) > 1 {
		if num(raw[1]) < known {
			return errors.Join(errWentBack, s.meetAgain(ctx, keys[0]))
		}
		s.options.Clockwork.saw(p, num(raw[1]))
	}
	return nil
}

// meetAgain compares with the server that has a key, though it was met before.
func (s *Store) meetAgain(ctx context.Context, key string) error {
	master, err := s.master(ctx, key)
	if err != nil {
		return err
	}
	conn := master.Conn()
	defer func() { _ = conn.Close() }()
	return s.options.Clockwork.meet(ctx, conn, true)
}

// argv puts what every verb but submit is given in front of its own arguments (lua/record.lua).
func (s *Store) argv(v verb) []any {
	argv := append(make([]any, 0, 4+len(v.args)), v.op, v.actor, s.options.KeepJob.Milliseconds(), s.options.KeepKey.Milliseconds())
	return append(argv, v.args...)
}

// refusals maps the answers that are refusals to their codes.
var refusals = map[lua.Answer]Code{
	lua.NotFound:        CodeNotFound,
	lua.NoAttempt:       CodeNoAttempt,
	lua.Conflict:        CodeConflict,
	lua.Gone:            CodeExpired,
	lua.JobFinal:        CodeJobFinal,
	lua.VersionMismatch: CodeVersion,
	lua.AttemptOpen:     CodeAttemptOpen,
	lua.AttemptTerminal: CodeAttemptTerminal,
	lua.NotUnknown:      CodeNotUnknown,
	lua.Expiring:        CodeExpiring,
	lua.NoWebhook:       CodeNoWebhook,
}

// ErrBadCursor is returned by List for a cursor it did not make.
var ErrBadCursor = errors.New("not a cursor of this list")
