package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSimulation_OneServer: an API of one core is M/M/1, and waits as that does.
func TestSimulation_OneServer(t *testing.T) {
	t.Parallel()
	c := costs{API: 1000} // nothing else costs anything
	d := deployment{Rate: 700, APICores: 1, Masters: 1, Queues: 1, Workers: 1, Cores: 1, Slots: 1000}
	s := newSimulation(c, d, 1)
	r := s.run(100)
	require.InDelta(t, 0.7, r.API, 0.02)
	require.InDelta(t, 700, r.Ended, 20)
	// Its time is exponential, of mean 1 ÷ (µ − λ) = 3.3 ms, so half take 2.3 ms.
	require.InDelta(t, 2.31e-3, r.SubmitP50, 0.3e-3)
}

// TestSimulation_Groups: a Redis that syncs once for all that wait answers as the
// formula says, up to a high load.
func TestSimulation_Groups(t *testing.T) {
	t.Parallel()
	for _, load := range []float64{0.1, 0.3, 0.6, 0.8} {
		c := costs{Jobs: 300, Fsync: 1000}
		d := deployment{Rate: load / (300 * micro), APICores: 64, Masters: 1, Queues: 1, Workers: 64, Cores: 64, Slots: 1000}
		r := newSimulation(c, d, 1).run(8)
		require.InDelta(t, load, r.Node, 0.05)
		require.InEpsilon(t, c.wait(r.Node), r.NodeWait, 0.35, "at %v", load)
	}
}

// TestSimulation_Overload: what a deployment does under more than it can is what the
// formulae say it can, whichever part is the first to be full.
func TestSimulation_Overload(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]deployment{
		partAPI:     {APICores: 1, Masters: 1, Queues: 1, Workers: 8, Cores: 4, Slots: 1000},
		partQueue:   {APICores: 64, Masters: 1, Queues: 1, Workers: 64, Cores: 4, Slots: 1000},
		partTaking:  {APICores: 64, Masters: 1, Queues: 1, Workers: 1, Cores: 4, Slots: 8},
		partWorkers: {APICores: 64, Masters: 1, Queues: 4, Workers: 1, Cores: 1, Slots: 1000},
		partSlots:   {APICores: 64, Masters: 1, Queues: 1, Workers: 4, Cores: 4, Slots: 10, Call: 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := plain
			c.ExpireRate, c.Expire, c.SweepRedis = 1e9, 0, 0 // which are not simulated
			if name == partQueue {
				c.Fsync = 50
			}
			if name == partWorkers {
				c.Worker, c.Fsync = 1000, 50
			}
			most, first := c.capacity(d, 1)
			require.Equal(t, name, first.Name)
			d.Rate = 1.5 * most
			require.InEpsilon(t, most, newSimulation(c, d, 1).run(8).Ended, 0.35)
			d.Rate = 0.5 * most
			require.InEpsilon(t, d.Rate, newSimulation(c, d, 1).run(8).Ended, 0.1)
		})
	}
}
