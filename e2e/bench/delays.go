package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// delay measures, in an idle process, from the submission to its claim and its
// end, one job at a time.
func delay(ctx context.Context, b *bench, _ string) error {
	both, err := b.onejob(ctx, "serve")
	if err != nil {
		return err
	}
	defer b.stop(both)
	c, err := dial(both.addr)
	if err != nil {
		return err
	}
	defer c.close()
	claims, ends := newHistogram(), newHistogram()
	for end := time.Now().Add(b.duration); time.Now().Before(end); {
		ended, t, err := c.oneJob(ctx)
		if err != nil {
			return err
		}
		_ = claims.RecordValue(t.claimed.Sub(t.submitted).Microseconds())
		_ = ends.RecordValue(ended.Microseconds())
	}
	b.figures.add("idle submit-to-claim p50 ms", ms(claims, 50))
	b.figures.add("idle submit-to-claim p99 ms", ms(claims, 99))
	b.figures.add("idle submit-to-succeeded p50 ms", ms(ends, 50))
	b.figures.add("idle submit-to-succeeded p99 ms", ms(ends, 99))
	return nil
}

func ms(h *hdrhistogram.Histogram, percentile float64) float64 {
	return float64(h.ValueAtQuantile(percentile)) / 1000
}

// Open loops run at parts of the highest rate that the closed loops reached, and the
// goals are about half of it.
var shares = []float64{0.25, 0.5, 0.75}

// curveNames are the latencies of which everything is kept.
var curveNames = []string{"POST answered, API alone", "POST answered, while executing", "job claimed", "job succeeded"}

const (
	openTime  = 6 * time.Second
	openConns = 64
	openWarm  = time.Second // at the beginning, of which nothing is said
)

// openLoops measures latencies of submissions to the API alone, and of whole jobs,
// under loads that do not wait.
func openLoops(ctx context.Context, b *bench, _ string) error {
	if err := b.openSubmissions(ctx); err != nil {
		return err
	}
	highest, err := b.highest(ctx, "end-to-end", endToEnd)
	if err != nil {
		return err
	}
	for _, share := range shares {
		if err := b.openJobs(ctx, share, highest*share); err != nil {
			return err
		}
	}
	return nil
}

// highest is what a closed loop reached in this run.
func (b *bench) highest(ctx context.Context, name string, run func(context.Context, *bench, string) error) (float64, error) {
	if rate, ok := b.figures.median(name + "/s"); ok {
		return rate, nil
	}
	if err := b.perform(ctx, scenario{name: name, run: run}); err != nil {
		return 0, err
	}
	rate, _ := b.figures.median(name + "/s")
	return rate, nil
}

func (b *bench) openSubmissions(ctx context.Context) error {
	highest, err := b.highest(ctx, "submit", submitAlone)
	if err != nil {
		return err
	}
	api, err := b.afresh(ctx, "api")
	if err != nil {
		return err
	}
	defer b.stop(api)
	m, err := openLoop(ctx, api.addr, scheduled(highest/2), submits, func(time.Time, []byte) {})
	if err != nil {
		return err
	}
	b.figures.add("open submit at 50 % p50 ms", ms(m.latency, 50))
	b.figures.add("open submit at 50 % p99 ms", ms(m.latency, 99))
	b.curves.add(curveNames[0], m.latency)
	return nil
}

func scheduled(rate float64) schedule {
	return schedule{rate: rate, duration: openTime, conns: openConns, warm: int(rate * openWarm.Seconds())}
}

// submission is a job that was to be submitted at a time.
type submission struct {
	id       string
	intended time.Time
}

// openJobs submits jobs to a process that executes them, and reads from their trails
// when they were claimed and had succeeded.
func (b *bench) openJobs(ctx context.Context, share, rate float64) error {
	both, err := b.afresh(ctx, "serve")
	if err != nil {
		return err
	}
	defer b.stop(both)
	var (
		mu   sync.Mutex
		made []submission
	)
	s := scheduled(rate)
	m, err := openLoop(ctx, both.addr, s, submits, func(intended time.Time, body []byte) {
		id := idIn(body)
		mu.Lock()
		defer mu.Unlock()
		made = append(made, submission{id, intended})
	})
	if err != nil {
		return err
	}
	if err := b.store.finished(ctx, s.callers()); err != nil {
		return err
	}
	w, err := waits(ctx, both.addr, made)
	if err != nil {
		return err
	}
	b.addWaits(share, m, w)
	return nil
}

func (b *bench) addWaits(share float64, m measured, w *waited) {
	at := openAt(share)
	b.figures.add("open"+at+"jobs/s", float64(m.count)/(openTime-openWarm).Seconds())
	for _, p := range []float64{50, 99} {
		of := fmt.Sprintf("p%.0f ms", p)
		b.figures.add("open POST"+at+of, ms(m.latency, p))
		b.figures.add("open submit-to-claim"+at+of, ms(w.claimed, p))
		b.figures.add("open intended-to-claim"+at+of, ms(w.intendedClaimed, p))
		b.figures.add("open intended-to-succeeded"+at+of, ms(w.intendedEnded, p))
	}
	if share == 0.5 {
		b.curves.add(curveNames[1], m.latency)
		b.curves.add(curveNames[2], w.intendedClaimed)
		b.curves.add(curveNames[3], w.intendedEnded)
	}
}

// openAt is the load, in the name of a figure.
func openAt(share float64) string { return fmt.Sprintf(" at %.0f %% ", share*100) }

// waited is how long jobs waited: from their record to the claim, and from the
// moment they were to be submitted to claim and end.
type waited struct{ claimed, intendedClaimed, intendedEnded *hdrhistogram.Histogram }

const readers = 8

func waits(ctx context.Context, addr string, made []submission) (*waited, error) {
	w := &waited{newHistogram(), newHistogram(), newHistogram()}
	var mu sync.Mutex
	_, err := parallel(readers, func(reader int, _ *hdrhistogram.Histogram) (int, error) {
		c, err := dial(addr)
		if err != nil {
			return 0, err
		}
		defer c.close()
		for i := reader; i < len(made) && ctx.Err() == nil; i += readers {
			t, err := c.trail(made[i].id)
			if err != nil {
				return 0, err
			}
			mu.Lock()
			_ = w.claimed.RecordValue(t.claimed.Sub(t.submitted).Microseconds())
			// The trail's clock is that of this machine, in whole milliseconds.
			_ = w.intendedClaimed.RecordValue(max(0, t.claimed.Sub(made[i].intended).Microseconds()))
			_ = w.intendedEnded.RecordValue(max(0, t.ended.Sub(made[i].intended).Microseconds()))
			mu.Unlock()
		}
		return 0, ctx.Err()
	})
	return w, err
}
