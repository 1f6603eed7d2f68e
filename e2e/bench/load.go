package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A maker writes the n-th request of a connection into buffer and returns it,
// with the status it must be answered with.
type maker func(buffer []byte, conn, n int) (request []byte, status int)

// measured is what a load saw.
type measured struct {
	count   int
	elapsed time.Duration
	latency *hdrhistogram.Histogram // µs
}

func (m measured) perSecond() float64 { return float64(m.count) / m.elapsed.Seconds() }

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(answerTime/time.Microsecond), 3)
}

// extent is when a closed loop ends: after a time, or a number of requests.
type extent struct {
	duration time.Duration
	count    int
}

// closedLoop sends as fast as conns connections get their answers. What it says of
// latencies leaves out whoever would have come meanwhile: see openLoop.
func closedLoop(ctx context.Context, addr string, conns int, until extent, next maker) (measured, error) {
	var sent atomic.Int64
	end := time.Now().Add(until.duration)
	return parallel(conns, func(conn int, histogram *hdrhistogram.Histogram) (int, error) {
		c, err := dial(addr)
		if err != nil {
			return 0, err
		}
		defer c.close()
		var buffer []byte
		count := 0
		for ; ctx.Err() == nil; count++ {
			began := time.Now()
			if until.count > 0 && sent.Add(1) > int64(until.count) || until.count == 0 && !began.Before(end) {
				break
			}
			request, want := next(buffer[:0], conn, count)
			buffer = request
			if _, err := c.expect(request, want); err != nil {
				return count, err
			}
			_ = histogram.RecordValue(time.Since(began).Microseconds())
		}
		return count, ctx.Err()
	})
}

// expect sends a request and returns the body of its answer, which is valid until
// the next; an answer of another status is an error.
func (c *client) expect(request []byte, want int) ([]byte, error) {
	status, body, err := c.do(request)
	if err != nil {
		return nil, err
	}
	if status != want {
		return nil, fmt.Errorf("answered %d instead of %d: %.300s", status, want, body)
	}
	return body, nil
}

// parallel runs one function a connection and adds up what they saw.
func parallel(conns int, one func(conn int, histogram *hdrhistogram.Histogram) (int, error)) (measured, error) {
	total := measured{latency: newHistogram()}
	var (
		mu     sync.Mutex
		failed error
		all    sync.WaitGroup
	)
	began := time.Now()
	for conn := range conns {
		all.Go(func() {
			histogram := newHistogram()
			count, err := one(conn, histogram)
			mu.Lock()
			defer mu.Unlock()
			total.count += count
			total.latency.Merge(histogram)
			if err != nil && failed == nil {
				failed = err
			}
		})
	}
	all.Wait()
	total.elapsed = time.Since(began)
	return total, failed
}
