package tasks

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"onejob/jobs"
)

// placing is a wake-up on its way to the queue of its provider, or into its owner's
// line when enough wait there. Those that come at the same moment go together: the
// lines are asked once for all of them.
type placing struct {
	wake    jobs.Wake
	k       int               // of the attempt's wake-ups, see wakeID
	headers map[string]string // for those who look on
	traced  func(placed, error)

	word placed // what became of it
	err  error
}

// prepare makes a first wake-up ready to be placed, by whoever: what ctx knows of a
// trace is kept, its end is not.
func (q *Queue) prepare(ctx context.Context, w jobs.Wake) *placing {
	ctx, traced := q.trace(ctx, w)
	return &placing{wake: w, headers: q.headers(ctx), traced: traced}
}

// place places the k-th wake-up of an attempt.
func (q *Queue) place(ctx context.Context, w jobs.Wake, k int) (placed, error) {
	p := &placing{wake: w, k: k, headers: q.headers(ctx), traced: func(placed, error) {}}
	q.placeAll(ctx, w.Provider, []*placing{p})
	return p.word, p.err
}

// placeAll places wake-ups of one provider, and tells each what became of it. As long
// as there is room by what this process knows, that costs no more than enqueuing.
func (q *Queue) placeAll(ctx context.Context, provider string, all []*placing) {
	defer func() {
		for _, p := range all {
			p.traced(p.word, p.err)
		}
	}()
	if q.window == nil {
		q.enqueueEach(ctx, all)
		return
	}
	known := q.depthOf(provider)
	room, left := known.enter(len(all), q.window(provider))
	if room < len(all) {
		q.park(ctx, provider, all[room:], left, known)
	}
	known.leave(len(all), q.enqueueEach(ctx, all))
}

// placeAtOnce is how many wake-ups are enqueued at a time: asynq takes one a round
// trip, and round trips of one moment go together. With fewer at a time than the queue's
// takers take, they find it empty before it is filled, and look again only after a while.
const placeAtOnce = 64

// enqueueEach enqueues those there is room for, and tells how many are on the queue.
func (q *Queue) enqueueEach(ctx context.Context, all []*placing) (queuedNow int) {
	var group errgroup.Group
	group.SetLimit(placeAtOnce)
	for _, p := range all {
		if p.err != nil || (p.word != "" && p.word != queued) {
			continue
		}
		group.Go(func() error {
			p.word, p.err = q.enqueueWith(ctx, p.wake, p.k, p.headers)
			return nil
		})
	}
	_ = group.Wait() // each keeps its own
	for _, p := range all {
		if p.err == nil && p.word == queued {
			queuedNow++
		}
	}
	return queuedNow
}

// park asks the lines of a provider about wake-ups: parked, or room for them.
func (q *Queue) park(ctx context.Context, provider string, all []*placing, window int, known *depth) {
	keys := []string{pending(provider), owners(provider), turn(provider)}
	arguments := []any{window}
	for _, p := range all {
		owner := p.wake.Owner
		if owner == "" {
			owner = nobody
		}
		keys = append(keys, lines(provider)+owner, taskKey(provider, wakeID(p.wake, p.k)))
		arguments = append(arguments, jobs.AttemptID(p.wake.JobID, p.wake.Attempt), owner)
	}
	said, err := parkScript.Run(ctx, q.rdb, keys, arguments...).Slice()
	if err == nil && len(said) != len(all)+2 {
		err = fmt.Errorf("the script answered %v", said)
	}
	if err != nil {
		for _, p := range all {
			p.err = fmt.Errorf("parking %s: %w", wakeID(p.wake, p.k), err)
		}
		return
	}
	known.learn(number(said[0]), number(said[1]) > 0)
	for i, p := range all {
		word, _ := said[i+2].(string)
		p.word = placed(word)
	}
}
