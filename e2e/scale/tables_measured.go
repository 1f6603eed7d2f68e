package main

import (
	"cmp"
	"fmt"
	"math"
)

// constantsTable lists what the calculation starts from, and where each is from.
func constantsTable(m *measured, c costs) string {
	costsFrom := cmp.Or(c.Bench, "whole jobs on one Redis, here")
	text := &table{}
	_, _ = fmt.Fprintf(text, "Measured %s on %d cores, Redis %s, `appendfsync always`.\n\n", m.At[:10], m.Cores, m.Redis)
	text.head("", "constant", "value", "from")
	for _, line := range [][3]string{
		{"a", "an API, a job", round(c.API) + " µs"},
		{"w", "a worker, a job that takes no time at the provider", round(c.Worker) + " µs"},
		{"j", "the master with the job's record: submit, claim, finalize", round(c.Jobs) + " µs"},
		{"q", "the master with the queue: enqueue, dequeue, done", round(c.Queue) + " µs"},
	} {
		text.row(line[0], line[1], line[2], costsFrom)
	}
	for _, line := range [][4]string{
		{"x", "the master with the job's record, when that has expired: off the indexes", round(c.Expire) + " µs", "20,000 expired jobs, one sweeper"},
		{"e", "jobs one sweeper takes off the indexes", round(c.ExpireRate) + "/s", "the same"},
		{"", "of j and q, for turns: waking up, writing, syncing; less a job the more there is to do", percent(m.turns()), "one Redis, against `appendfsync everysec`"},
		{"b", "every master but one, a message published", round(c.Publish) + " µs", "200,000 messages on three masters; the publishing one: " + round(m.Publish.Here) + " µs"},
		{"b′", "the same, when it comes by itself", round(c.Alone) + " µs", "10,000 messages, one after the other"},
		{"k", "messages published for a job", round(c.Messages), "submitted, running, succeeded"},
		{"f", "a sync of the append-only file", round(c.Fsync) + " µs", "500 appended kilobytes, this disk"},
		{"s", "an idle sweep: Redis; worker", round(c.SweepRedis) + " µs; " + round(c.SweepWorker) + " µs", "2,000 sweeps; each worker makes one a second"},
		{"p", "a look at an empty queue: Redis; worker", round(c.PollRedis) + " µs; " + round(c.PollWorker) + " µs", "workers of 1 and of 11 queues; each looks 50 times a second"},
		{"m", "memory of a finished job, besides input and result", bytesOf(c.Bytes), costsFrom},
		{"y", "memory of its key afterwards", bytesOf(c.Key), "`MEMORY USAGE`, and 32 B for its time to live"},
		{"l", "append-only file, a job", bytesOf(c.Log), "whole jobs on one Redis"},
	} {
		text.row(line[:]...)
	}
	return text.String()
}

// checkedTable holds what the model says of three masters against what they did. Of one
// Redis's work a part is for its turns, and how many turns three of them make depends on
// how full these are: at least they share what one made, at most each makes as many.
func checkedTable(m *measured) string {
	here := m.onePlusThree()
	text := &table{}
	text.head("three masters, a job", "the model, from one: turns shared", "as many each", "measured")
	const share = 1.0 / 3
	passed := here.Messages * here.Alone * 2 / 3 // at this rate they come one by one
	line := func(what string, one, own, seen float64) {
		turns := one * m.turns()
		// own is the part of one Redis's work that this master has, turns aside.
		work := own * (1 - m.turns())
		text.row(what, round(work+turns*share+passed)+" µs", round(work+turns+passed)+" µs", round(seen)+" µs")
	}
	one := here.Jobs + here.Queue
	line("one queue: the master with it", one, here.Jobs*share+here.Queue, m.Cluster.Nodes[0])
	line("one queue: each of the others", one, here.Jobs*share, (m.Cluster.Nodes[1]+m.Cluster.Nodes[2])/2)
	line("three queues: each master", one, one*share, m.Spread.redis()/3)
	line("verbs alone: each master", m.StoreSingle.redis(), m.StoreSingle.redis()*share, m.StoreCluster.redis()/3)
	text.WriteString("\n")
	text.head("throughput here", "the model", "measured", "cores in use")
	for _, one := range []struct {
		what string
		w    whole
	}{{"whole jobs, one Redis", m.Single}, {"three masters, one queue", m.Cluster}, {"three masters, three queues", m.Spread}} {
		model := twoCores(m.Cores, one.w.all(), slowest(one.w.Nodes))
		text.row(one.what, round(model)+"/s", round(one.w.PerSecond)+"/s", fmt.Sprintf("%.1f of %d", one.w.PerSecond*one.w.all()*micro, m.Cores))
	}
	for _, one := range []struct {
		what string
		v    verbs
	}{{"verbs alone, one Redis", m.StoreSingle}, {"verbs alone, three masters", m.StoreCluster}} {
		all := one.v.Client + one.v.redis()
		text.row(one.what, round(twoCores(m.Cores, all, slowest(one.v.Nodes)))+"/s", round(one.v.PerSecond)+"/s",
			fmt.Sprintf("%.1f of %d", one.v.PerSecond*all*micro, m.Cores))
	}
	text.WriteString("\n")
	text.head("three masters ÷ one", "throughput here", "room: work of the fullest master")
	text.row("whole jobs, one queue", ratio(m.Cluster.PerSecond, m.Single.PerSecond), ratio(m.Single.redis(), slowest(m.Cluster.Nodes)))
	text.row("whole jobs, three queues", ratio(m.Spread.PerSecond, m.Single.PerSecond), ratio(m.Single.redis(), slowest(m.Spread.Nodes)))
	text.row("verbs alone", ratio(m.StoreCluster.PerSecond, m.StoreSingle.PerSecond), ratio(m.StoreSingle.redis(), slowest(m.StoreCluster.Nodes)))
	return text.String()
}

// onePlusThree are the costs that the check starts from: those of the same run alone.
func (m *measured) onePlusThree() costs {
	c, _ := m.costs("") // no file, no error
	return c
}

// twoCores is what a machine of so many cores does when a job costs it so much in all,
// and the fullest Redis, which has one thread, so much.
func twoCores(cores int, all, fullest float64) float64 {
	return math.Min(float64(cores)/(all*micro), 1/(fullest*micro))
}

func slowest(nodes []float64) float64 {
	most := 0.0
	for _, node := range nodes {
		most = math.Max(most, node)
	}
	return most
}

func ratio(a, b float64) string { return fmt.Sprintf("%.2f", a/b) }
