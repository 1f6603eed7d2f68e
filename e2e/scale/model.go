package main

import "math"

// deployment is what runs, and how it is loaded.
type deployment struct {
	Rate     float64 // jobs a second
	APICores int
	Masters  int     // of Redis
	Queues   int     // providers, each with a queue; spread over the masters
	Workers  int     // processes
	Cores    int     // of a worker process
	Slots    int     // calls at once: concurrency of a queue in a worker process
	Call     float64 // how long a provider takes, s
}

// full is how much of a core, a master or a sweeper is planned with. Beyond, waits grow
// quickly.
const full = 0.7

const micro = 1e-6

// part is one thing that can be full, and how full it is.
type part struct {
	Name string
	Load float64 // 1: it cannot do more
}

// Parts of a deployment.
const (
	partAPI     = "the APIs' processors"
	partQueue   = "the master with a queue"
	partMaster  = "a master without one"
	partWorkers = "the workers' processors"
	partTaking  = "workers taking from a queue"
	partSlots   = "the workers' slots"
	partSweeper = "the sweepers"
)

// passed is the work that messages published elsewhere are for a master, a job.
func (c costs) passed(masters int) float64 {
	if masters < 2 {
		return 0
	}
	return c.Messages * c.Publish * (1 - 1/float64(masters))
}

// masterLoads are how full the fullest master with a queue is, and one without.
func (c costs) masterLoads(d deployment) (queue, other float64) {
	share := largestShare(d.Masters)
	other = micro * (d.Rate*((c.Jobs+c.Expire)*share+c.passed(d.Masters)) + float64(d.Workers)*c.SweepRedis*share)
	together := math.Ceil(float64(d.Queues) / float64(d.Masters)) // queues on one master
	return other + micro*d.Rate/float64(d.Queues)*together*c.Queue, other
}

// wait is how long a command waits for its answer, s. A Redis syncs its file once for
// all commands that it finds waiting, and what comes meanwhile waits for the next turn:
// a turn takes fsync ÷ (1 − load), and a command sees one and a half of them.
func (c costs) wait(load float64) float64 {
	return 1.5 * c.Fsync * micro / (1 - min(load, 0.99))
}

// takerCalls is how many calls one of asynq's servers in a worker hands out, as long as
// there are no more than mostTakers of them.
const (
	takerCalls = 8
	mostTakers = 16
)

// takers is how many of them a worker has for each queue.
func (d deployment) takers() float64 {
	return min(math.Ceil(float64(d.Slots)/takerCalls), mostTakers)
}

// parts are all of a deployment, by the utilisation law: load = rate × cost ÷ servers.
func (c costs) parts(d deployment) []part {
	queue, other := c.masterLoads(d)
	workers, perQueue := float64(d.Workers), d.Rate/float64(d.Queues)
	held := d.Call + 2*c.wait(other) // claim and finalize, besides the call
	return []part{
		{partAPI, micro * d.Rate * c.API / float64(d.APICores)},
		{partQueue, queue},
		{partMaster, other},
		{partWorkers, micro * d.Rate * c.Worker / (workers * float64(d.Cores))},
		// A taker asks for the next task of a queue when it has been given the last.
		{partTaking, perQueue * c.wait(queue) / (workers * d.takers())},
		{partSlots, perQueue * held / (workers * float64(d.Slots))}, // Little's law
		{partSweeper, d.Rate / (workers * c.ExpireRate)},
	}
}

// first is the fullest part.
func (c costs) first(d deployment) part {
	var first part
	for _, p := range c.parts(d) {
		if p.Load > first.Load {
			first = p
		}
	}
	return first
}

// capacity is the rate at which the first part is as full as most, and which that is.
func (c costs) capacity(d deployment, most float64) (float64, part) {
	low, high := 0.0, 1e9
	for range 100 {
		d.Rate = (low + high) / 2
		if c.first(d).Load > most {
			high = d.Rate
		} else {
			low = d.Rate
		}
	}
	d.Rate = low
	return low, c.first(d)
}

// size is the smallest deployment that takes a rate.
type size struct {
	Rate     float64
	Cells    int // installations with a Cluster of their own, beside each other
	APICores int
	Masters  int // of each cell; a queue on each
	Workers  int // processes, in all
	Cores    int // of all workers
	Why      string
}

// mostMasters is how many masters can hold jobs: a partition is on one.
const mostMasters = 64

// perCell is the highest rate of one Cluster, and with how many masters, whose slots
// are placed by hand.
func (c costs) perCell() (rate float64, masters int) {
	for n := 1; n <= mostMasters; n++ {
		if r := c.clusterRate(n, placedShare(n)); r > rate {
			rate, masters = r, n
		}
	}
	return rate, masters
}

// clusterRate is what n masters take with a queue on each, and such a share of the
// partitions on the fullest.
func (c costs) clusterRate(n int, share float64) float64 {
	each := (c.Jobs+c.Expire)*share + c.passed(n) + c.Queue/float64(n)
	return full / (each * micro)
}

// sized computes a deployment for a rate: processors for the APIs and the workers,
// masters, and as many worker processes as it takes to take tasks, to hold calls and to
// sweep. slots is the concurrency of a queue in one worker, call the provider's time, s.
func (c costs) sized(rate float64, slots int, call float64) size {
	most, _ := c.perCell()
	s := size{Rate: rate, Cells: int(math.Ceil(rate / most))}
	cell := rate / float64(s.Cells)
	for s.Masters = 1; s.Masters < mostMasters && c.clusterRate(s.Masters, placedShare(s.Masters)) < cell; {
		s.Masters++
	}
	s.APICores = int(math.Ceil(micro * rate * c.API / full))
	s.Cores = int(math.Ceil(micro * rate * c.Worker / full))
	perQueue := cell / float64(s.Masters)
	needs := map[string]float64{
		"taking":     perQueue * c.wait(full) / (deployment{Slots: slots}.takers() * full),
		"slots":      perQueue * (call + 2*c.wait(full)) / (float64(slots) * full),
		"sweeping":   cell / (c.ExpireRate * full),
		"processors": float64(s.Cores) / float64(s.Cells) / 8, // of eight cores each
	}
	var processes float64
	for _, why := range []string{"taking", "slots", "sweeping", "processors"} {
		if n := math.Ceil(needs[why]); n > processes {
			processes, s.Why = n, why
		}
	}
	s.Workers = int(processes) * s.Cells
	return s
}
