package jobs

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/lua"
)

// rewindJump is how far a partition's seq jumps when it was found to have gone
// back in time, so that no other process finds it again.
const rewindJump = 1 << 32

// calmTime is how long nothing is claimed after a server was met that was not
// met before: three looks of every other process at it.
const calmTime = 3 * time.Second

// Rewound tells of a partition that went back in time.
type Rewound struct {
	Partition int
	RunID     string // of the server it was noticed at
	Known     int64  // the highest seq this process had been given
	Found     int64  // what the server had
	Suspected int    // attempts that became unknown
}

// Clockwork notices a store that went back in time: a failover or a restore that
// lost acknowledged writes (design §3). Its OnConnect learns the server's run id
// before a new connection may carry a verb; at one not seen before it compares
// every partition's seq with the highest this process has been given. It cannot
// see what no process alive knew.
type Clockwork struct {
	notice func(Rewound)

	mu   sync.Mutex
	seen map[string]bool // run ids that have been looked at
	// calmUntil is when dispatch goes on after a server not met before.
	calmUntil time.Time
	known     [Partitions]atomic.Int64
}

// NewClockwork returns a Clockwork that tells notice of every partition it found
// rewound.
func NewClockwork(notice func(Rewound)) *Clockwork {
	return &Clockwork{notice: notice, seen: map[string]bool{}}
}

// saw keeps the highest seq given by a partition.
func (k *Clockwork) saw(p partition, seq int64) {
	for {
		known := k.known[p].Load()
		if seq <= known || k.known[p].CompareAndSwap(known, seq) {
			return
		}
	}
}

// OnConnect is for go-redis's options. An error keeps the connection from being
// used.
func (k *Clockwork) OnConnect(ctx context.Context, conn *redis.Conn) error {
	return k.meet(ctx, conn, false)
}

// meet compares once with every server this process has not met. What is no master
// carries no verb and is not judged: a replica that is promoted is another server,
// by its replication id.
func (k *Clockwork) meet(ctx context.Context, conn *redis.Conn, lower bool) error {
	info, err := conn.Info(ctx).Result()
	if err != nil {
		return fmt.Errorf("learning who the server is: %w", err)
	}
	if infoValue(info, "redis_mode") == "sentinel" || infoValue(info, "role") == "slave" {
		return nil
	}
	id := infoValue(info, "run_id") + "." + infoValue(info, "master_replid")
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.seen[id] && !lower {
		return nil
	}
	if err := k.compare(ctx, conn, id, lower); err != nil {
		return err
	}
	if len(k.seen) > 0 || lower {
		k.calmUntil = time.Now().Add(calmTime)
	}
	k.seen[id] = true
	return nil
}

func (k *Clockwork) compare(ctx context.Context, conn *redis.Conn, id string, lower bool) error {
	if err := lua.Rewind.Load(ctx, conn).Err(); err != nil {
		return fmt.Errorf("loading the script that compares: %w", err)
	}
	var known [Partitions]int64
	var answers [Partitions]*redis.Cmd
	pipe := conn.Pipeline()
	for p := range partition(Partitions) {
		known[p] = k.known[p].Load()
		keys := []string{p.seq(), p.due(), p.seq()}
		answers[p] = lua.Rewind.EvalSha(ctx, pipe, keys, "", "clockwork", 0, 0, known[p], int64(rewindJump), id, boolArg(lower))
	}
	_, _ = pipe.Exec(ctx) // judged one by one
	for p := range partition(Partitions) {
		if err := k.judge(p, id, known[p], answers[p]); err != nil {
			return err
		}
	}
	return nil
}

// judge reads what a partition answered.
func (k *Clockwork) judge(p partition, id string, known int64, answer *redis.Cmd) error {
	fields, err := answer.StringSlice()
	switch {
	case elsewhere(err):
		return nil // another node of the Cluster has it
	case err != nil:
		return fmt.Errorf("comparing partition %d: %w", p, err)
	case len(fields) != 4:
		return nil // nothing was lost, or another process has dealt with it
	}
	k.notice(Rewound{Partition: int(p), RunID: id, Known: known, Found: num(fields[3]), Suspected: int(num(fields[1]))})
	return nil
}

// before is the highest seq known of the partition of a key, read before a verb is
// sent: an answer below it comes from a store that went back without a new
// connection.
func (k *Clockwork) before(key string) int64 {
	p, ok := partitionOfKey(key)
	if !ok {
		return 0
	}
	return k.known[p].Load()
}

func boolArg(is bool) int {
	if is {
		return 1
	}
	return 0
}

// calm waits out the time after a server was met that was not met before, in
// which nothing is dispatched: another process may know more of what it lost.
func (k *Clockwork) calm(ctx context.Context) error {
	k.mu.Lock()
	wait := time.Until(k.calmUntil)
	k.mu.Unlock()
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// elsewhere tells whether a Cluster node says that it has not got the key, or a
// replica that it is not the one to ask.
func elsewhere(err error) bool {
	return err != nil && (redis.HasErrorPrefix(err, "MOVED") || redis.HasErrorPrefix(err, "ASK") ||
		redis.HasErrorPrefix(err, "CLUSTERDOWN"))
}

func infoValue(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
