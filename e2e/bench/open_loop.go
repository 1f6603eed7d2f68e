package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// schedule is an open loop: callers who come whether or not the one before them has
// been answered, one every 1/rate of a second.
type schedule struct {
	rate     float64 // a second
	duration time.Duration
	conns    int // that carry them; too few are seen as latency
	warm     int // of the first callers nothing is said
}

func (s schedule) callers() int { return int(s.rate * s.duration.Seconds()) }

// at is when a caller comes, after the beginning.
func (s schedule) at(caller int) time.Duration {
	return time.Duration(float64(caller) / s.rate * float64(time.Second))
}

// openLoop sends by a schedule and measures from the moment a request was to be
// sent, not from when it was: a server that stands still for a second is late for
// everybody who came in that second (coordinated omission, as Gil Tene named it).
// answered is told, from many goroutines, of every answer after the first warm.
func openLoop(ctx context.Context, addr string, s schedule, next maker, answered func(intended time.Time, body []byte)) (measured, error) {
	var taken atomic.Int64
	began := time.Now()
	return parallel(s.conns, func(conn int, histogram *hdrhistogram.Histogram) (int, error) {
		c, err := dial(addr)
		if err != nil {
			return 0, err
		}
		defer c.close()
		var buffer []byte
		for count := 0; ; {
			caller := int(taken.Add(1)) - 1
			if caller >= s.callers() {
				return count, nil
			}
			intended := began.Add(s.at(caller))
			if err := pause(ctx, time.Until(intended)); err != nil {
				return count, err
			}
			request, want := next(buffer[:0], conn, caller)
			buffer = request
			body, err := c.expect(request, want)
			if err != nil {
				return count, err
			}
			if caller >= s.warm {
				count++
				_ = histogram.RecordValue(time.Since(intended).Microseconds())
				answered(intended, body)
			}
		}
	})
}
