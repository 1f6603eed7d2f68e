package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"
)

// watchers share one subscription of the process: a channel per job that
// somebody waits for. A signal says "look again"; it can be lost while the
// connection is, so whoever waits also looks now and then by himself.
type watchers struct {
	rdb    redis.UniversalClient
	mu     sync.Mutex
	pubsub *redis.PubSub
	byName map[string]map[chan struct{}]struct{}
	// every is the subscription to all jobs; nil while nobody watches them all.
	every  *redis.PubSub
	all    map[chan struct{}]struct{}
	done   sync.WaitGroup
	closed bool
}

func newWatchers(rdb redis.UniversalClient) *watchers {
	return &watchers{rdb: rdb, byName: map[string]map[chan struct{}]struct{}{}, all: map[chan struct{}]struct{}{}}
}

// Watch signals after each write to the job. stop must be called.
func (s *Store) Watch(jobID string) (changed <-chan struct{}, stop func(), err error) {
	p, ok := partitionOfID(jobID)
	if !ok {
		return nil, nil, &Refusal{Code: CodeNotFound, JobID: jobID}
	}
	return s.watchers.add(partition(p).prefix() + "changed:" + jobID)
}

// WatchAll signals after a write to any job; of many in a row, one signal may
// stand for all. stop must be called.
func (s *Store) WatchAll() (changed <-chan struct{}, stop func(), err error) {
	return s.watchers.addAll()
}

// everyJob is what every job's channel is called.
const everyJob = "oj:{*}:changed:*"

func (w *watchers) addAll() (<-chan struct{}, func(), error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, nil, errors.New("watching all jobs: the store is closed")
	}
	if w.every == nil {
		w.every = w.rdb.PSubscribe(context.Background(), everyJob)
		messages := w.every.Channel()
		w.done.Go(func() { w.deliverAll(messages) })
	}
	c := make(chan struct{}, 1)
	w.all[c] = struct{}{}
	return c, func() { w.removeAll(c) }, nil
}

// removeAll ends the subscription with its last watcher: a busy store would keep
// on sending what nobody hears.
func (w *watchers) removeAll(c chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, c)
	if len(w.all) == 0 && w.every != nil {
		_ = w.every.Close()
		w.every = nil
	}
}

func (w *watchers) deliverAll(messages <-chan *redis.Message) {
	for range messages {
		w.mu.Lock()
		for c := range w.all {
			select {
			case c <- struct{}{}:
			default:
			}
		}
		w.mu.Unlock()
	}
}

func (w *watchers) add(name string) (<-chan struct{}, func(), error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, nil, fmt.Errorf("watching %s: the store is closed", name)
	}
	if w.pubsub == nil {
		w.pubsub = w.rdb.Subscribe(context.Background())
		w.done.Add(1)
		go w.deliver(w.pubsub.Channel())
	}
	if w.byName[name] == nil {
		if err := w.pubsub.Subscribe(context.Background(), name); err != nil {
			return nil, nil, fmt.Errorf("watching %s: %w", name, err)
		}
		w.byName[name] = map[chan struct{}]struct{}{}
	}
	c := make(chan struct{}, 1)
	w.byName[name][c] = struct{}{}
	return c, func() { w.remove(name, c) }, nil
}

func (w *watchers) remove(name string, c chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.byName[name], c)
	if len(w.byName[name]) == 0 && w.byName[name] != nil && !w.closed {
		delete(w.byName, name)
		// Not unsubscribed: at worst a signal nobody hears.
		_ = w.pubsub.Unsubscribe(context.Background(), name)
	}
}

func (w *watchers) deliver(messages <-chan *redis.Message) {
	defer w.done.Done()
	for m := range messages {
		w.mu.Lock()
		for c := range w.byName[m.Channel] {
			select {
			case c <- struct{}{}:
			default:
			}
		}
		w.mu.Unlock()
	}
}

func (w *watchers) close() error {
	w.mu.Lock()
	w.closed = true
	open := []*redis.PubSub{w.pubsub, w.every}
	w.every = nil
	w.mu.Unlock()
	var errs []error
	for _, pubsub := range open {
		if pubsub != nil {
			errs = append(errs, pubsub.Close())
		}
	}
	w.done.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("ending the watches: %w", err)
	}
	return nil
}
