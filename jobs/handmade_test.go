package jobs_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/jobs/recordtest"
)

// handmade is a job written field by field, so that exactly one rule stands in
// the way of a verb.
type handmade struct {
	*scripts
	t *testing.T
}

type fields map[string]any

// makeJob writes a job at version 5 with the attempts given, from number 1 on.
// Fields of job go over the usual ones.
func makeJob(t *testing.T, rdb *redis.Client, job fields, attempts ...fields) *handmade {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	h := &handmade{scripts: newScripts(ctx, rdb, hour, 10*hour), t: t}
	record := fields{
		"v": "1", "state": "running", "version": 5, "revision": 9, "attempts": len(attempts), "created": 1000,
		"updated": 1000, "owner": "dev", "owner_hash": ownerHash, "key": "k", "key_hash": "k", "route": "print",
		"provider": "inkjet", "input": "{}", "fingerprint": "v1:a",
	}
	maps.Copy(record, job)
	for i, a := range attempts {
		addAttempt(record, i+1, a)
	}
	require.NoError(t, recordtest.Set(ctx, rdb, h.keys()[0], record))
	require.NoError(t, rdb.ZAdd(ctx, h.prefix+"state:"+fmt.Sprint(record["state"]), redis.Z{Score: 1000, Member: h.id}).Err())
	require.NoError(t, rdb.ZAdd(ctx, h.prefix+"owner:"+ownerHash, redis.Z{Score: 1000, Member: h.id}).Err())
	return h
}

// addAttempt adds an attempt that is running under the job's version, its lease good
// for an hour; fields go over that.
func addAttempt(record fields, n int, a fields) {
	future := time.Now().UnixMilli() + hour
	usual := fields{
		"state": "running", "provider": "inkjet", "created": 1000, "not_before": 1000, "fence": 5, "token": "mine",
		"deadline": future, "lease": future,
	}
	maps.Copy(usual, a)
	for name, value := range usual {
		record[fmt.Sprintf("%d.%s", n, name)] = value
	}
}

// say sends a command about attempt 1 and returns the answer and its detail.
func (h *handmade) say(c command) string {
	h.t.Helper()
	if c.attempt == 0 {
		c.attempt = 1
	}
	if c.actor == "" {
		c.actor = "worker"
	}
	if c.lease == 0 {
		c.lease, c.deadline = hour, hour
	}
	reply, err := h.send(c)
	require.NoError(h.t, err)
	if detail, _ := reply[5].(string); detail != "" {
		return fmt.Sprintf("%s %s", reply[0], detail)
	}
	return fmt.Sprint(reply[0])
}

func (h *handmade) image() image {
	h.t.Helper()
	im, _ := h.look(h.t)
	return im
}

// Plans of a route: one that ends with its first attempt, one that can race.
var (
	twoProviders = []jobs.PolicyProvider{{Name: "inkjet"}, {Name: "laser"}}
	onePolicy    = modelPolicy{MaxAttempts: 1, Tries: 1, Max: 100, Failover: "untested", Providers: twoProviders}
	racePolicy   = modelPolicy{MaxAttempts: 5, Tries: 1, Max: 100, Failover: "untested", Providers: twoProviders}
)

// The reports an attempt can end with.
var (
	finalizes = command{verb: "finalize", op: "F", fence: 5, result: `"new"`}
	fails     = command{verb: "fail", op: "N", fence: 5, reason: "busy", message: "no", policy: onePolicy}
	resolves  = command{verb: "resolve", op: "R", outcome: "succeeded", reason: "seen", result: `"new"`, policy: onePolicy}
)
