package contracts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Store keeps certificates in Redis, one hash for a route's provider (design §3).
// It uses plain commands: a certificate is not atomic with a job's verbs, and need
// not be, because the attempt records which one allowed it.
type Store struct {
	rdb redis.UniversalClient
}

// NewStore returns a Store that does not close rdb.
func NewStore(rdb redis.UniversalClient) *Store { return &Store{rdb: rdb} }

// Pair names a provider of a route.
type Pair struct{ Route, Provider string }

// Record is what is kept of a Pair.
type Record struct {
	Pair
	Certificate *Certificate // nil when none was issued
	Breach      *Breach      // of the latest verification, if that found the contract broken
}

// Breach is a verification that found the contract broken.
type Breach struct {
	At      time.Time `json:"at"`
	Binding string    `json:"binding"` // what was verified: a breach of something else does not count
	Why     string    `json:"why"`     // one line; nothing of an answer
}

const (
	fieldCertificate = "certificate"
	fieldBreach      = "breach"
)

func key(p Pair) string { return "oj:certificate:" + p.Route + ":" + p.Provider }

// Put stores a certificate over an older one and over a breach.
func (s *Store) Put(ctx context.Context, c *Certificate) error {
	b, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encoding certificate %s: %w", c.ID, err)
	}
	pair := Pair{c.Route, c.Provider}
	_, err = s.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, key(pair), fieldCertificate, b)
		p.HDel(ctx, key(pair), fieldBreach)
		return nil
	})
	if err != nil {
		return fmt.Errorf("storing certificate %s: %w", c.ID, err)
	}
	return nil
}

// Break records that a verification found the contract broken; the certificate
// stays to be seen and allows nothing any more.
func (s *Store) Break(ctx context.Context, p Pair, breach Breach) error {
	b, err := json.Marshal(breach)
	if err != nil {
		return fmt.Errorf("encoding the breach of %s by %s: %w", p.Route, p.Provider, err)
	}
	if err := s.rdb.HSet(ctx, key(p), fieldBreach, b).Err(); err != nil {
		return fmt.Errorf("storing the breach of %s by %s: %w", p.Route, p.Provider, err)
	}
	return nil
}

// Get returns what is kept of a pair; an empty Record when nothing is.
func (s *Store) Get(ctx context.Context, p Pair) (Record, error) {
	records, err := s.All(ctx, p)
	if err != nil {
		return Record{Pair: p}, err
	}
	return records[0], nil
}

// All returns what is kept of the pairs, in their order, in one round trip.
func (s *Store) All(ctx context.Context, pairs ...Pair) ([]Record, error) {
	replies := make([]*redis.SliceCmd, len(pairs))
	if len(pairs) == 0 {
		return nil, nil
	}
	_, err := s.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, p := range pairs {
			replies[i] = pipe.HMGet(ctx, key(p), fieldCertificate, fieldBreach)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading certificates: %w", err)
	}
	records := make([]Record, len(pairs))
	for i, p := range pairs {
		records[i] = Record{Pair: p}
		if err := records[i].read(replies[i].Val()); err != nil {
			return nil, fmt.Errorf("reading the certificate of %s for %s: %w", p.Provider, p.Route, err)
		}
	}
	return records, nil
}

func (r *Record) read(fields []any) error {
	if len(fields) != 2 {
		return errors.New("the reply has not the two fields asked for")
	}
	if text, ok := fields[0].(string); ok {
		if err := json.Unmarshal([]byte(text), &r.Certificate); err != nil {
			return fmt.Errorf("decoding the certificate: %w", err)
		}
	}
	if text, ok := fields[1].(string); ok {
		if err := json.Unmarshal([]byte(text), &r.Breach); err != nil {
			return fmt.Errorf("decoding the breach: %w", err)
		}
	}
	return nil
}

// Turn takes the turn to verify a pair, as it is bound, for so long, so that of
// many workers one does. False: somebody else has it.
func (s *Store) Turn(ctx context.Context, p Pair, binding string, hold time.Duration) (bool, error) {
	err := s.rdb.SetArgs(ctx, key(p)+":turn:"+binding, "1", redis.SetArgs{Mode: "NX", TTL: hold}).Err()
	switch {
	case errors.Is(err, redis.Nil):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("taking the turn to verify %s for %s: %w", p.Provider, p.Route, err)
	}
	return true, nil
}
