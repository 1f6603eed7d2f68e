package jobs

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Query selects jobs, newest first.
type Query struct {
	Owner    string // empty: every owner's
	State    State  // empty: any
	Route    string // empty: any
	Provider string // of the latest attempt; empty: any
	Key      string // idempotency key; with Owner it is found at once, without it is searched for
	// Since and Until select jobs created at Since or later, and before Until.
	// Zero: no bound. A bound costs nothing: the indexes are in that order.
	Since, Until Time
	Limit        int    // at most; defaults to 20
	After        string // Page.Next of the page before
}

// Page is a part of a list.
type Page struct {
	Jobs    []*Job
	HasMore bool
	Next    string // cursor of the next page; set with HasMore
	// Newer counts the jobs looked at for this page that only a newer onejob can
	// read: they may belong to it, and are not in it.
	Newer int
}

// scanMost bounds the records one page may look at, so that a filter that
// matches little costs no more than this; the page then ends early and HasMore
// says so.
const scanMost = 1000

// listBatch is how many records are read at once where the first few do not make a
// page: with as few as a page holds, a filter that matches nothing would ask every
// index hundreds of times for a page of one job.
const listBatch = 100

// listed is an entry of an index: a job and the time it was created.
type listed struct {
	at int64
	id string
}

// before orders the newest first, ids breaking the tie.
func (l listed) before(other listed) bool {
	if l.at != other.at {
		return l.at > other.at
	}
	return l.id > other.id
}

func (l listed) cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(l.at, 36) + "." + l.id))
}

func readCursor(s string) (listed, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return listed{}, ErrBadCursor
	}
	at, id, ok := strings.Cut(string(b), ".")
	ms, err := strconv.ParseInt(at, 36, 64)
	if _, valid := partitionOfID(id); !ok || err != nil || !valid {
		return listed{}, ErrBadCursor
	}
	return listed{at: ms, id: id}, nil
}

// List returns a page of jobs, newest first. Its cost does not grow with the
// number of stored jobs. ErrBadCursor says that After is none of its cursors.
func (s *Store) List(ctx context.Context, q Query) (Page, error) {
	if q.Limit <= 0 {
		q.Limit = 20
	}
	if q.Owner != "" && q.Key != "" {
		return s.listByKey(ctx, q)
	}
	var page Page
	position := listed{at: -1}
	if q.After != "" {
		var err error
		if position, err = readCursor(q.After); err != nil {
			return Page{}, err
		}
	}
	size := q.Limit + 1
	for scanned := 0; scanned < scanMost; {
		batch, err := s.indexed(ctx, q, position, size)
		if err != nil {
			return Page{}, err
		}
		full, last, err := s.collect(ctx, q, batch, &page)
		if err != nil || full {
			return page, err
		}
		if len(batch) < size {
			return page, nil
		}
		scanned += len(batch)
		position = last
		size = max(size, listBatch)
	}
	page.HasMore, page.Next = true, position.cursor()
	return page, nil
}

// collect adds the matching jobs of a batch to the page; full when there is one
// more than it holds. It returns the entry it got to.
func (s *Store) collect(ctx context.Context, q Query, batch []listed, page *Page) (bool, listed, error) {
	ids := make([]string, len(batch))
	for i, entry := range batch {
		ids[i] = entry.id
	}
	found, newer, err := s.getAll(ctx, ids)
	if err != nil {
		return false, listed{}, err
	}
	page.Newer += newer
	byID := make(map[string]*Job, len(found))
	for _, job := range found {
		byID[job.ID] = job
	}
	last := listed{at: -1}
	for _, entry := range batch {
		job := byID[entry.id]
		if job != nil && q.matches(job) {
			if len(page.Jobs) == q.Limit {
				page.HasMore = true
				newest := page.Jobs[q.Limit-1]
				page.Next = listed{at: int64(newest.CreatedAt), id: newest.ID}.cursor()
				return true, last, nil
			}
			page.Jobs = append(page.Jobs, job)
		}
		last = entry
	}
	return false, last, nil
}

func (q Query) matches(job *Job) bool {
	return (q.Owner == "" || job.Owner == q.Owner) && (q.State == "" || job.State == q.State) &&
		(q.Route == "" || job.Route == q.Route) && (q.Key == "" || job.IdempotencyKey == q.Key) &&
		(q.Provider == "" || job.Provider == q.Provider) &&
		job.CreatedAt >= q.Since && (q.Until == 0 || job.CreatedAt < q.Until)
}

func (s *Store) listByKey(ctx context.Context, q Query) (Page, error) {
	p := partition(partitionOf(q.Owner, q.Key))
	held, err := s.rdb.Get(ctx, p.key(keyHash(q.Owner, q.Key))).Result()
	if errors.Is(err, redis.Nil) {
		return Page{}, nil
	}
	if err != nil {
		return Page{}, fmt.Errorf("looking up a key: %w", err)
	}
	_, id, _ := strings.Cut(held, " ")
	found, newer, err := s.getAll(ctx, []string{id})
	if err != nil || len(found) == 0 || !q.matches(found[0]) {
		return Page{Newer: newer}, err
	}
	return Page{Jobs: found}, nil
}

// indexed merges the newest limit entries older than position out of every
// partition's index, in one round trip (or as many as there are Cluster nodes), as a
// rule: keys spread over the partitions, so a few entries of each hold the newest of
// all. Where they do not, all is read that could.
func (s *Store) indexed(ctx context.Context, q Query, position listed, limit int) ([]listed, error) {
	if few := limit/Partitions*4 + 4; few < limit {
		entries, whole, err := s.glance(ctx, q, position, few, limit)
		if err != nil || whole {
			return entries, err
		}
	}
	merged := map[string]listed{}
	for offset := 0; ; offset += limit {
		slices, err := s.slices(ctx, q, position, offset, limit)
		if err != nil {
			return nil, err
		}
		again := false
		for _, slice := range slices {
			skipped := merge(merged, slice, position)
			// All of one millisecond and seen before: the rest is further down.
			again = again || skipped > 0 && len(slice) == limit
		}
		if !again {
			break
		}
	}
	return newest(merged, limit), nil
}

// glance reads few entries of every index. They are the whole answer when no index
// that has more of them could hold one among the newest limit.
func (s *Store) glance(ctx context.Context, q Query, position listed, few, limit int) (entries []listed, whole bool, err error) {
	slices, err := s.slices(ctx, q, position, 0, few)
	if err != nil {
		return nil, false, err
	}
	merged := map[string]listed{}
	var horizon *listed // nothing older is known for certain
	for _, slice := range slices {
		merge(merged, slice, position)
		if len(slice) < few {
			continue
		}
		if last := entryOf(slice[few-1]); horizon == nil || last.before(*horizon) {
			horizon = &last
		}
	}
	entries = newest(merged, limit)
	if horizon == nil {
		return entries, true, nil
	}
	return entries, len(entries) == limit && !horizon.before(entries[limit-1]), nil
}

func entryOf(z redis.Z) listed { return listed{at: int64(z.Score), id: z.Member.(string)} }

// merge adds what is older than position, and tells how many are not.
func merge(to map[string]listed, slice []redis.Z, position listed) (skipped int) {
	for _, z := range slice {
		entry := entryOf(z)
		if position.at >= 0 && !position.before(entry) {
			skipped++
			continue
		}
		to[entry.id] = entry
	}
	return skipped
}

func newest(merged map[string]listed, limit int) []listed {
	entries := make([]listed, 0, len(merged))
	for _, entry := range merged {
		entries = append(entries, entry)
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].before(entries[j]) })
	return entries[:min(limit, len(entries))]
}

func (s *Store) slices(ctx context.Context, q Query, position listed, offset, limit int) ([][]redis.Z, error) {
	lowest, highest := q.bounds(position)
	pipe := s.rdb.Pipeline()
	var commands []*redis.ZSliceCmd
	for p := range partition(Partitions) {
		for _, index := range q.indexes(p) {
			commands = append(commands, pipe.ZRevRangeByScoreWithScores(ctx, index, &redis.ZRangeBy{
				Min: lowest, Max: highest, Offset: int64(offset), Count: int64(limit),
			}))
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("reading the indexes: %w", err)
	}
	slices := make([][]redis.Z, len(commands))
	for i, command := range commands {
		slices[i] = command.Val()
	}
	return slices, nil
}

// bounds are the times of creation between which a page can find anything.
func (q Query) bounds(position listed) (lowest, highest string) {
	lowest, highest = "-inf", "+inf"
	if q.Since > 0 {
		lowest = strconv.FormatInt(int64(q.Since), 10)
	}
	last := int64(math.MaxInt64)
	if q.Until > 0 {
		last = int64(q.Until) - 1
	}
	if position.at >= 0 {
		last = min(last, position.at)
	}
	if last < math.MaxInt64 {
		highest = strconv.FormatInt(last, 10)
	}
	return lowest, highest
}

// indexes are the indexes of a partition that together hold what q can match.
func (q Query) indexes(p partition) []string {
	if q.Owner != "" {
		return []string{p.owner(OwnerHash(q.Owner))}
	}
	if q.State != "" {
		return []string{p.state(q.State)}
	}
	names := make([]string, len(States))
	for i, state := range States {
		names[i] = p.state(state)
	}
	return names
}
