package main

import "container/heap"

type event struct {
	at  float64
	seq int // of two at one time the one that was planned first
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) } //nolint:forcetypeassert // of heap's own making
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

func (s *simulation) after(d float64, do func()) {
	s.seq++
	heap.Push(&s.next, event{s.now + d, s.seq, do})
}

// pool are servers with one line before them.
type pool struct {
	s       *simulation
	free    int
	waiting []func()
	busy    float64 // time used, of all
}

// use takes a server for an exponential time of this mean.
func (p *pool) use(mean float64, then func()) {
	work := func() {
		took := p.s.dice.ExpFloat64() * mean
		p.busy += took
		p.s.after(took, func() {
			then()
			if len(p.waiting) > 0 {
				first := p.waiting[0]
				p.waiting = p.waiting[1:]
				first()
				return
			}
			p.free++
		})
	}
	if p.free == 0 {
		p.waiting = append(p.waiting, work)
		return
	}
	p.free--
	work()
}

// node is a Redis: it takes all commands that wait, does them, syncs once and answers.
type node struct {
	s       *simulation
	running bool
	costs   float64
	thens   []func()
	busy    float64 // processor time used
	answers int
	waited  float64
}

func (n *node) ask(cost float64, then func()) {
	came := n.s.now
	n.costs += cost
	n.thens = append(n.thens, func() {
		n.answers++
		n.waited += n.s.now - came
		then()
	})
	if !n.running {
		n.turn()
	}
}

func (n *node) turn() {
	n.running = true
	costs, thens := n.costs, n.thens
	n.costs, n.thens = 0, nil
	n.busy += costs
	n.s.after(costs+n.s.c.Fsync*micro, func() {
		n.running = false
		for _, then := range thens {
			then()
		}
		if len(n.thens) > 0 && !n.running {
			n.turn()
		}
	})
}
