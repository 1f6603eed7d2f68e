package main

import (
	"container/heap"
	"math/rand/v2"
	"slices"
)

// A simulation of events, for what formulae leave out: queues before queues, workers
// that poll, slots that fill, a Redis that answers in groups. Times are seconds.
type simulation struct {
	c    costs
	d    deployment
	dice *rand.Rand
	now  float64
	next events
	seq  int

	api     *pool
	nodes   []*node
	pending [][]simJob // of each queue
	workers []*simWorker

	submits, ends []float64 // how long each took
}

// simWorker is a worker process: takers and slots for each queue, processors for all.
type simWorker struct {
	cpu     *pool
	slots   []int
	stopped []int // takers that wait for a slot
}

// pollEvery is the pause of a taker that found its queue empty, if it is the only one;
// each of several makes one twice as long.
const pollEvery = 0.020

func (d deployment) pause() float64 { return pollEvery * min(d.takers(), 2) }

func newSimulation(c costs, d deployment, seed uint64) *simulation {
	s := &simulation{c: c, d: d, dice: rand.New(rand.NewPCG(seed, 1)), pending: make([][]simJob, d.Queues)}
	s.api = &pool{s: s, free: d.APICores}
	for range d.Masters {
		s.nodes = append(s.nodes, &node{s: s})
	}
	for range d.Workers {
		w := &simWorker{cpu: &pool{s: s, free: d.Cores}, slots: make([]int, d.Queues), stopped: make([]int, d.Queues)}
		s.workers = append(s.workers, w)
		for q := range w.slots {
			w.slots[q] = d.Slots
			for range int(d.takers()) {
				s.after(s.dice.Float64()*d.pause(), func() { s.take(w, q) })
			}
		}
	}
	return s
}

// run lets jobs come for so many seconds and tells what was seen once the first tenth
// was over.
func (s *simulation) run(seconds float64) seen {
	s.after(s.dice.ExpFloat64()/s.d.Rate, func() { s.arrive(seconds) })
	var warm usage
	s.after(seconds/10, func() {
		warm = s.usage()
		s.submits, s.ends = nil, nil
	})
	for len(s.next) > 0 && s.next[0].at < seconds {
		e, _ := heap.Pop(&s.next).(event)
		s.now = e.at
		e.do()
	}
	return s.done(seconds, warm)
}

// simJob is a job on its way.
type simJob struct {
	began float64
	at    *node // that holds its record
}

func (s *simulation) arrive(until float64) {
	job := simJob{s.now, s.nodes[s.dice.IntN(len(s.nodes))]}
	q := s.dice.IntN(s.d.Queues)
	s.api.use(s.c.API*micro, func() {
		job.at.ask(s.c.Jobs/3*micro, func() {
			s.submits = append(s.submits, s.now-job.began)
			s.queue(q).ask(s.c.Queue/3*micro, func() { s.pending[q] = append(s.pending[q], job) })
		})
	})
	if next := s.dice.ExpFloat64() / s.d.Rate; s.now+next < until {
		s.after(next, func() { s.arrive(until) })
	}
}

// queue is the node of a queue.
func (s *simulation) queue(q int) *node { return s.nodes[q%len(s.nodes)] }

// take has a taker of a worker take one task of a queue after the other.
func (s *simulation) take(w *simWorker, q int) {
	if w.slots[q] == 0 {
		w.stopped[q]++
		return
	}
	w.slots[q]-- // before it asks, as asynq's server does
	s.queue(q).ask(s.c.Queue/3*micro, func() {
		if len(s.pending[q]) == 0 {
			w.slots[q]++
			s.after(s.d.pause(), func() { s.take(w, q) })
			return
		}
		job := s.pending[q][0]
		s.pending[q] = s.pending[q][1:]
		s.work(w, q, job)
		s.take(w, q)
	})
}

// work is claim, call, finalize, done.
func (s *simulation) work(w *simWorker, q int, job simJob) {
	w.cpu.use(s.c.Worker*micro, func() {
		job.at.ask(s.c.Jobs/3*micro, func() {
			s.after(s.d.Call, func() {
				job.at.ask(s.c.Jobs/3*micro, func() {
					s.ends = append(s.ends, s.now-job.began)
					s.queue(q).ask(s.c.Queue/3*micro, func() {
						w.slots[q]++
						if w.stopped[q] > 0 {
							w.stopped[q]--
							s.take(w, q)
						}
					})
				})
			})
		})
	})
}

// seen is what a simulation showed.
type seen struct {
	Ended              float64 // jobs a second
	SubmitP50, EndP50  float64 // s
	SubmitP99, EndP99  float64
	API, Node, Workers float64 // how full: of all, the fullest, of all
	NodeWait           float64 // mean, of the fullest
}

// done tells of what came after the first tenth of so many seconds.
func (s *simulation) done(seconds float64, before usage) seen {
	watched := seconds * 0.9
	after := s.usage()
	r := seen{
		Ended: float64(len(s.ends)) / watched, SubmitP50: quantile(s.submits, 0.5), EndP50: quantile(s.ends, 0.5),
		SubmitP99: quantile(s.submits, 0.99), EndP99: quantile(s.ends, 0.99),
		API: (after.api - before.api) / watched / float64(s.d.APICores), Workers: (after.workers - before.workers) / watched / float64(s.d.Workers*s.d.Cores),
	}
	for i, n := range s.nodes {
		if load := (after.nodes[i] - before.nodes[i]) / watched; load >= r.Node {
			r.Node, r.NodeWait = load, n.waited/float64(max(1, n.answers))
		}
	}
	return r
}

// usage is the processor time used so far.
type usage struct {
	api, workers float64
	nodes        []float64
}

func (s *simulation) usage() usage {
	u := usage{api: s.api.busy}
	for _, n := range s.nodes {
		u.nodes = append(u.nodes, n.busy)
	}
	for _, w := range s.workers {
		u.workers += w.cpu.busy
	}
	return u
}

func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
