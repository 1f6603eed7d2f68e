package jobs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/lua"
)

// Kinds of entries in a partition's due set.
const (
	DueWake    = "wake"    // a starting attempt nobody has claimed
	DueLease   = "lease"   // a running attempt's lease or deadline
	DueLookup  = "lookup"  // an unknown attempt to be looked up
	DueSettle  = "settle"  // an unknown attempt no answer can come for any more
	DueRace    = "race"    // a silent attempt another provider may race
	DueTicket  = "ticket"  // a failed job's ticket for operators
	DueExpire  = "expire"  // an ended job's entries in the indexes
	DueStart   = "start"   // a starting attempt of a job that is to start by a time
	DueCancel  = "cancel"  // a call its provider is to be asked to cancel
	DueWebhook = "webhook" // a delivery's next try
	// DueNewer is no entry: Tries of them were left to newer sweepers, for a newer
	// onejob wrote the records.
	DueNewer = "newer"
)

// Due is an overdue entry this sweep has taken the turn for.
type Due struct {
	Kind  string
	JobID string
	Last  string // what follows the job id: an attempt's number, a version, an owner's hash
	// Tries counts how often the entry was handed out, this time included;
	// Provider is the attempt's. Both for DueWake, DueLookup and DueCancel.
	Tries    int
	Provider string
	// Owner is OwnerHash of the job's. For DueWake.
	Owner string
}

// Attempt is the number of the attempt an entry speaks of.
func (d Due) Attempt() int {
	n, _ := strconv.Atoi(d.Last)
	return n
}

// Webhook is the number of the delivery an entry of DueWebhook speaks of.
func (d Due) Webhook() int {
	n, _ := strconv.Atoi(strings.TrimPrefix(d.Last, "h"))
	return n
}

// DueOfWebhook is the entry of delivery n of a job, for Postpone.
func DueOfWebhook(jobID string, n int) Due {
	return Due{Kind: DueWebhook, JobID: jobID, Last: fmt.Sprintf("h%d", n)}
}

// TakeMost bounds what is taken of one partition at once.
const TakeMost = 100

// Overdue tells which partitions have something due, and by how much the oldest of
// it is overdue, in one round trip. With an error those that could be read are told
// all the same.
func (s *Store) Overdue(ctx context.Context) ([]int, time.Duration, error) {
	pipe := s.rdb.Pipeline()
	clock := pipe.Time(ctx)
	first := make([]*redis.ZSliceCmd, Partitions)
	for p := range partition(Partitions) {
		first[p] = pipe.ZRangeWithScores(ctx, p.due(), 0, 0)
	}
	_, err := pipe.Exec(ctx)
	if err != nil {
		err = fmt.Errorf("reading what is due: %w", err)
	}
	now := clock.Val()
	if now.IsZero() {
		now = time.Now() // a look too early or late: the scripts go by their own clock
	}
	var overdue []int
	var lag time.Duration
	for p, command := range first {
		if entries := command.Val(); len(entries) > 0 && entries[0].Score <= float64(now.UnixMilli()) {
			overdue = append(overdue, p)
			lag = max(lag, now.Sub(time.UnixMilli(int64(entries[0].Score))))
		}
	}
	return overdue, lag, err
}

// Now is the time by the store's clock.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	now, err := s.rdb.Time(ctx).Result()
	if err != nil {
		return time.Time{}, fmt.Errorf("asking the store for the time: %w", err)
	}
	return now, nil
}

// Postpone lets an entry come up again after a while; one that is gone stays gone.
func (s *Store) Postpone(ctx context.Context, d Due, wait time.Duration) error {
	p, ok := partitionOfID(d.JobID)
	if !ok {
		return nil
	}
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	entry := redis.Z{Score: float64(now.Add(wait).UnixMilli()), Member: d.Kind + ":" + d.JobID + ":" + d.Last}
	if err := s.rdb.ZAddXX(ctx, partition(p).due(), entry).Err(); err != nil {
		return fmt.Errorf("postponing an entry of job %s: %w", d.JobID, err)
	}
	return nil
}

// Patience is told of every sweep and tells for how long nobody may be suspected
// yet: one lease after a gap longer than gap in which nobody swept, for then the
// store was away.
func (s *Store) Patience(ctx context.Context, gap time.Duration) (time.Duration, error) {
	left, err := lua.Patience.Run(ctx, s.rdb, []string{"oj:sweep"}, gap.Milliseconds(), s.options.Lease.Milliseconds()).Text()
	if err != nil {
		return 0, fmt.Errorf("reporting a sweep: %w", err)
	}
	return time.Duration(num(left)) * time.Millisecond, nil
}

// Take takes the turn for what is overdue in a partition, at most a hundred
// entries. Each goes to one taker, and comes up again if nobody deals with it.
func (s *Store) Take(ctx context.Context, p int) ([]Due, error) {
	keys := partition(p)
	taken, err := lua.Take.Run(ctx, s.rdb, []string{keys.due()}, TakeMost).Slice()
	if err != nil {
		return nil, fmt.Errorf("taking what is due in partition %d: %w", p, err)
	}
	due := make([]Due, 0, len(taken))
	for _, entry := range taken {
		fields, ok := entry.([]any)
		if !ok || len(fields) != 6 {
			return nil, fmt.Errorf("taking what is due in partition %d: unexpected entry %v", p, entry)
		}
		due = append(due, Due{
			Kind: str(fields[0]), JobID: str(fields[1]), Last: str(fields[2]),
			Tries: int(num(fields[3])), Provider: str(fields[4]), Owner: str(fields[5]),
		})
	}
	return due, nil
}

// Hold notes why a starting attempt does not start although it could.
func (s *Store) Hold(ctx context.Context, jobID string, attempt int, why string) error {
	_, err := s.run(ctx, verb{script: lua.Hold, jobID: jobID, actor: "sweeper", args: []any{attempt, why}})
	return err
}

// IssueTicket gives the failed job of a DueTicket entry to issue and then takes
// the entry off. A job that has moved on since gets none.
func (s *Store) IssueTicket(ctx context.Context, d Due, issue func(context.Context, *Job) error) error {
	job, err := s.Get(ctx, d.JobID)
	var refusal *Refusal
	if err != nil && !errors.As(err, &refusal) {
		return err
	}
	if err == nil && job.State == Failed && strconv.FormatInt(job.Version, 10) == d.Last {
		if err := issue(ctx, job); err != nil {
			return err
		}
	}
	return s.Forget(ctx, d)
}

// Forget takes an entry off that needs no more doing.
func (s *Store) Forget(ctx context.Context, d Due) error {
	p, ok := partitionOfID(d.JobID)
	if !ok {
		return nil
	}
	if err := s.rdb.ZRem(ctx, partition(p).due(), d.Kind+":"+d.JobID+":"+d.Last).Err(); err != nil {
		return fmt.Errorf("taking an entry of job %s off the due set: %w", d.JobID, err)
	}
	return nil
}

// there tells whether a job's record is.
func (s *Store) there(ctx context.Context, p int, jobID string) (bool, error) {
	n, err := s.rdb.Exists(ctx, partition(p).job(jobID)).Result()
	if err != nil {
		return false, fmt.Errorf("looking for job %s: %w", jobID, err)
	}
	return n > 0, nil
}
