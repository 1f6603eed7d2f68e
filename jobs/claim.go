package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/lua"
)

// Claim is the right to make the call of one attempt, once.
type Claim struct {
	JobID    string
	Attempt  int
	Token    string // the claim's own; made before the claim was sent
	Fence    int64  // the job's version at the claim
	Owner    string
	Route    string
	Provider string
	Try      int // 1 for the first attempt of this job at this provider
	Input    json.RawMessage
	Params   json.RawMessage
	// Trace is the W3C trace context the job was submitted with; may be empty.
	Trace string
	// Waited is how long the attempt could have been claimed before it was.
	Waited time.Duration
	// Unreplicated: too few replicas have the claim, and a failover could lose
	// it. The call must not leave.
	Unreplicated bool
}

// ClaimRequest names the attempt to claim and the provider the caller serves.
type ClaimRequest struct {
	JobID    string
	Attempt  int
	Token    string
	Provider string
	Deadline time.Duration // how long the call will be listened to
	Actor    string
}

// NotClaimed says why there is nothing to do for this delivery.
type NotClaimed struct {
	Why    string // an answer of lua/claim.lua
	Detail string
}

func (n *NotClaimed) Error() string { return "not claimed: " + n.Why + " " + n.Detail }

// Claim takes a starting attempt (I2): whoever gets a Claim, and nobody else,
// makes the call. Else the error is a NotClaimed or a Refusal.
func (s *Store) Claim(ctx context.Context, r ClaimRequest) (*Claim, error) {
	if s.options.Clockwork != nil {
		if err := s.options.Clockwork.calm(ctx); err != nil {
			return nil, fmt.Errorf("claiming %s: %w", AttemptID(r.JobID, r.Attempt), err)
		}
	}
	v := verb{script: lua.Claim, jobID: r.JobID, op: r.Token, actor: r.Actor, args: []any{
		r.Attempt, r.Token, r.Deadline.Milliseconds(), s.options.Lease.Milliseconds(), r.Provider,
	}}
	if s.options.WaitReplicas > 0 {
		return s.claimReplicated(ctx, v, r)
	}
	a, err := s.run(ctx, v)
	if err != nil {
		return nil, err
	}
	return readClaim(a, r)
}

// replicaTime is how long a claim waits for its replicas.
const replicaTime = time.Second

// claimReplicated claims over one connection and has it wait for the replicas: a
// claim that a failover could lose must not let a call leave.
func (s *Store) claimReplicated(ctx context.Context, v verb, r ClaimRequest) (*Claim, error) {
	p, ok := partitionOfID(v.jobID)
	if !ok {
		return nil, &Refusal{Code: CodeNotFound, JobID: v.jobID}
	}
	keys := partition(p).verbKeys(v.jobID)
	master, err := s.master(ctx, keys[0])
	if err != nil {
		return nil, err
	}
	conn := master.Conn()
	defer func() { _ = conn.Close() }()
	known := s.known(keys[0])
	raw, err := s.verbs.RunOn(ctx, conn, v.script, keys, s.argv(v)...).Slice()
	if err != nil {
		return nil, fmt.Errorf("claiming %s: %w", AttemptID(r.JobID, r.Attempt), err)
	}
	if err := s.heard(ctx, keys, known, raw); err != nil {
		return nil, err
	}
	a, err := readAnswer(v.jobID, raw)
	if err != nil {
		return nil, err
	}
	claim, err := readClaim(a, r)
	if err != nil {
		return nil, err
	}
	reached, err := conn.Wait(ctx, s.options.WaitReplicas, replicaTime).Result()
	claim.Unreplicated = err != nil || reached < int64(s.options.WaitReplicas)
	return claim, nil
}

// master is the server that holds a key.
func (s *Store) master(ctx context.Context, key string) (*redis.Client, error) {
	switch rdb := s.rdb.(type) {
	case *redis.Client:
		return rdb, nil
	case *redis.ClusterClient:
		node, err := rdb.MasterForKey(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("finding the master of %s: %w", key, err)
		}
		return node, nil
	}
	return nil, fmt.Errorf("cannot wait for replicas over a %T", s.rdb)
}

func readClaim(a *answer, r ClaimRequest) (*Claim, error) {
	if a.word != lua.Claimed {
		return nil, &NotClaimed{Why: string(a.word), Detail: a.detail}
	}
	if len(a.rest) != 8 {
		return nil, fmt.Errorf("claiming %s: %d fields answered, want 8", AttemptID(r.JobID, r.Attempt), len(a.rest))
	}
	return &Claim{
		JobID: r.JobID, Attempt: r.Attempt, Token: r.Token, Provider: r.Provider,
		Fence: num(a.rest[0]), Route: str(a.rest[1]), Owner: str(a.rest[2]), Try: int(num(a.rest[3])),
		Input: raw(str(a.rest[4])), Params: raw(str(a.rest[5])), Waited: time.Duration(num(a.rest[6])) * time.Millisecond,
		Trace: str(a.rest[7]),
	}, nil
}
