package jobs

import (
	"context"
	"errors"
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
	info, err := conn.Info(ctx, "server").Result()
	if err != nil {
		return fmt.Errorf("learning the run id: %w", err)
	}
	id := runID(info)
	k.mu.Lock()
	defer k.mu.Unlock()
	if id == "" || k.seen[id] {
		return nil
	}
	if err := k.compare(ctx, conn, id); err != nil {
		return err
	}
	if len(k.seen) > 0 {
		k.calmUntil = time.Now().Add(calmTime)
	}
	k.seen[id] = true
	return nil
}

func (k *Clockwork) compare(ctx context.Context, conn *redis.Conn, id string) error {
	for p := range partition(Partitions) {
		known := k.known[p].Load()
		if known == 0 {
			continue
		}
		found, err := conn.Get(ctx, p.seq()).Int64()
		switch {
		case elsewhere(err):
			continue // another node of the Cluster has it
		case err != nil && !errors.Is(err, redis.Nil):
			return fmt.Errorf("reading seq of partition %d: %w", p, err)
		case found >= known:
			continue
		}
		if err := k.rewind(ctx, conn, id, p, known, found); err != nil {
			return err
		}
	}
	return nil
}

func (k *Clockwork) rewind(ctx context.Context, conn *redis.Conn, id string, p partition, known, found int64) error {
	keys := []string{p.seq(), p.seq(), p.seq(), p.due(), p.seq()}
	argv := []any{"", "clockwork", 0, 0, known, int64(rewindJump)}
	answer, err := lua.Rewind.Eval(ctx, conn, keys, argv...).StringSlice()
	if err != nil {
		return fmt.Errorf("dealing with partition %d, which went back in time: %w", p, err)
	}
	if len(answer) != 3 {
		return nil // another process has dealt with it
	}
	k.saw(p, known+rewindJump)
	k.notice(Rewound{Partition: int(p), RunID: id, Known: known, Found: found, Suspected: int(num(answer[1]))})
	return nil
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

func runID(info string) string {
	for line := range strings.Lines(info) {
		if id, ok := strings.CutPrefix(line, "run_id:"); ok {
			return strings.TrimSpace(id)
		}
	}
	return ""
}
