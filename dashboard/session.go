package dashboard

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/auth"
)

// session is somebody signed in. What it may do is asked of its key anew at every
// request, so it ends with the key, within auth.CacheTTL.
type session struct {
	token string // in the cookie, and nowhere else
	who   auth.Identity
	ends  time.Time // at the latest
}

// csrf is what a form of this session must carry (the signed form of OWASP's
// synchroniser token): nobody can make it who cannot read the cookie, and it
// tells nothing of it.
func (s *session) csrf() string {
	mac := hmac.New(sha256.New, []byte(s.token))
	mac.Write([]byte("onejob dashboard csrf"))
	return hex.EncodeToString(mac.Sum(nil))
}

// errNoSession: there is none with that token, it ended, or its key did.
var errNoSession = errors.New("the session has ended")

// sessions keeps them in Redis, a hash for each, under the digest of its token:
// a copy of the store opens nothing.
type sessions struct {
	rdb  redis.UniversalClient
	keys Authenticator
	most time.Duration // from its beginning
	idle time.Duration // from its last use
}

func sessionKey(token string) string { return "oj:session:" + digestOf(token) }

func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Fields of oj:session:<digest>; times are milliseconds since the Unix epoch.
const (
	fieldDigest = "digest" // of the API key
	fieldKey    = "key"    // id of the API key, for people who look
	fieldEnds   = "ends"
	fieldUsed   = "used"
)

// begin starts a session with a key that was just found to work. Its token is new,
// whatever the browser brought along, so nobody can have set it before.
func (s *sessions) begin(ctx context.Context, key string, who auth.Identity) (*session, error) {
	now := time.Now()
	begun := &session{token: rand.Text() + rand.Text(), who: who, ends: now.Add(s.most)}
	name := sessionKey(begun.token)
	_, err := s.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, name, fieldDigest, auth.Digest(key), fieldKey, who.KeyID,
			fieldEnds, begun.ends.UnixMilli(), fieldUsed, now.UnixMilli())
		p.PExpire(ctx, name, s.idle)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("beginning a session: %w", err)
	}
	return begun, nil
}

// usedEvery is how exactly the last use of a session is known, so that a click
// seldom costs a write.
const usedEvery = time.Minute

// find returns the session with that token. used says that its person did
// something, which keeps it from ending for idleness. Errors: errNoSession,
// auth.ErrUnavailable, or that of Redis.
func (s *sessions) find(ctx context.Context, token string, used bool) (*session, error) {
	if token == "" {
		return nil, errNoSession
	}
	name, now := sessionKey(token), time.Now()
	fields, err := s.rdb.HGetAll(ctx, name).Result()
	if err != nil {
		return nil, fmt.Errorf("looking for a session: %w", err)
	}
	ends, last := millis(fields[fieldEnds]), millis(fields[fieldUsed])
	if len(fields) == 0 || !now.Before(ends) || now.Sub(last) >= s.idle {
		return nil, errNoSession
	}
	who, err := s.keys.Recall(ctx, fields[fieldDigest])
	if errors.Is(err, auth.ErrUnauthorized) || err == nil && !who.SeesEveryone() {
		return nil, errors.Join(errNoSession, s.end(ctx, token))
	}
	if err != nil {
		return nil, err
	}
	if used && now.Sub(last) >= min(usedEvery, s.idle/4) {
		if err := s.touch(ctx, name, now, ends); err != nil {
			return nil, err
		}
	}
	return &session{token: token, who: who, ends: ends}, nil
}

func (s *sessions) touch(ctx context.Context, name string, now, ends time.Time) error {
	_, err := s.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, name, fieldUsed, now.UnixMilli())
		p.PExpire(ctx, name, min(s.idle, ends.Sub(now)))
		return nil
	})
	if err != nil {
		return fmt.Errorf("keeping a session: %w", err)
	}
	return nil
}

// end makes the token worth nothing.
func (s *sessions) end(ctx context.Context, token string) error {
	if err := s.rdb.Del(ctx, sessionKey(token)).Err(); err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	return nil
}

// saidWithin is how long a sentence waits for the next page.
const saidWithin = time.Minute

func saidKey(token string) string { return sessionKey(token) + ":said" }

// say leaves a sentence for the next page of the session.
func (s *sessions) say(ctx context.Context, token, sentence string) error {
	if err := s.rdb.Set(ctx, saidKey(token), sentence, saidWithin).Err(); err != nil {
		return fmt.Errorf("leaving a word for the next page: %w", err)
	}
	return nil
}

// said takes that sentence; empty when there is none.
func (s *sessions) said(ctx context.Context, token string) (string, error) {
	sentence, err := s.rdb.GetDel(ctx, saidKey(token)).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return "", fmt.Errorf("reading what the page should say: %w", err)
	}
	return sentence, nil
}

// millis reads a time; what cannot be read is long ago.
func millis(s string) time.Time {
	ms, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
