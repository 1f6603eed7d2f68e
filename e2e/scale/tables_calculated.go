package main

import (
	"fmt"
	"math"
	"time"
)

// small is the least deployment: an API and a worker of one core each, one Redis, one
// queue, a provider that takes 100 ms.
var small = deployment{APICores: 1, Masters: 1, Queues: 1, Workers: 1, Cores: 1, Slots: 64, Call: 0.1}

// simulatedTable holds the simulation against the formulae.
func simulatedTable(c costs) string {
	text := &table{}
	text.head("deployment", "jobs/s", "first to be full, by the formulae", "simulated: ended/s", "POST, half and 99 %", "end, half and 99 %")
	grown := small
	grown.APICores, grown.Workers, grown.Cores, grown.Slots = 4, 8, 2, 100
	spread := grown
	spread.Masters, spread.Queues = 3, 3
	for _, one := range []struct {
		name string
		d    deployment
		load float64
	}{
		{"one of each", small, 0.5},
		{"one of each", small, 1.5},
		{"4 API cores, 8 workers", grown, 0.7},
		{"4 API cores, 8 workers", grown, 1.3},
		{"the same, 3 masters, 3 queues", spread, 0.7},
	} {
		most, first := c.capacity(one.d, 1)
		one.d.Rate = one.load * most
		s := newSimulation(c, one.d, 1).run(20)
		text.row(one.name, round(one.d.Rate), first.Name+", at "+round(most)+"/s", round(s.Ended),
			millis(s.SubmitP50)+", "+millis(s.SubmitP99), millis(s.EndP50)+", "+millis(s.EndP99))
	}
	return text.String()
}

// firstTable says at which rate each part of the smallest deployment is full, and what
// more of it does.
func firstTable(c costs) string {
	text := &table{}
	text.head("part", "full at", "formula")
	for _, line := range [][3]string{
		{"one core of an API", round(1/(c.API*micro)) + "/s", "1 ÷ a"},
		{"one core of a worker", round(1/(c.Worker*micro)) + "/s", "1 ÷ w"},
		{"one Redis, jobs and queue", round(1/((c.Jobs+c.Queue+c.Expire)*micro)) + "/s", "1 ÷ (j + q + x)"},
		{"a master with one queue and no jobs", round(1/(c.Queue*micro)) + "/s", "1 ÷ q: the most one provider's queue can do, wherever it is"},
		{"one taker of a worker, one queue", round(1/c.wait(full)) + "/s", "(1 − ρ) ÷ 1.5 f at ρ = 0.7: it asks for the next task when it has the last"},
		{"one sweeper", round(c.ExpireRate) + "/s", "e, by expiries alone: as many a second as jobs come"},
	} {
		text.row(line[:]...)
	}
	return text.String()
}

// passingTable is what more masters bring, and where they stop bringing it.
func passingTable(c costs) string {
	text := &table{}
	text.head("masters", "largest share of the partitions, slots in equal ranges", "jobs/s at ρ = 0.7", "share, slots placed by hand", "jobs/s", "of the work, others' messages")
	for _, n := range []int{1, 3, 6, 12, 24, 48, 64} {
		ranges, placed := largestShare(n), placedShare(n)
		rate := c.clusterRate(n, placed)
		text.row(fmt.Sprint(n), fmt.Sprintf("%.1f %%", 100*ranges), round(c.clusterRate(n, ranges)),
			fmt.Sprintf("%.1f %%", 100*placed), round(rate), percent(rate*c.passed(n)*micro/full))
	}
	rate, n := c.perCell()
	_, _ = fmt.Fprintf(text, "\nThe most is %s/s, with %d masters. However many there are, a Cluster cannot pass %s/s: ρ ÷ (k b), a master that does nothing but hear of others' jobs.\n",
		round(rate), n, round(full/(c.Messages*c.Publish*micro)))
	return text.String()
}

// sizedTable is what it takes.
func sizedTable(c costs) string {
	const slots, call = 100, 1.0
	sizes := []size{c.sized(10_000, slots, call), c.sized(100_000, slots, call), c.sized(1_000_000, slots, call)}
	text := &table{}
	text.head("", "10 k jobs/s", "100 k", "1 M", "formula")
	line := func(what, formula string, value func(size) string) {
		cells := []string{what}
		for _, s := range sizes {
			cells = append(cells, value(s))
		}
		text.row(append(cells, formula)...)
	}
	number := func(n int) string { return thousands(int64(n)) }
	line("cells, each with a Cluster of its own", "⌈λ ÷ most of a Cluster⌉", func(s size) string { return number(s.Cells) })
	line("masters of a cell, a queue on each", "least n with λ' ((j + x) ⌈64/n⌉/64 + k b (1 − 1/n) + q/n) ≤ ρ", func(s size) string { return number(s.Masters) })
	line("masters in all", "", func(s size) string { return number(s.Masters * s.Cells) })
	line("cores of APIs", "⌈λ a ÷ ρ⌉", func(s size) string { return number(s.APICores) })
	line("cores of workers", "⌈λ w ÷ ρ⌉", func(s size) string { return number(s.Cores) })
	line("worker processes", "the most of the four below", func(s size) string { return number(s.Workers) + " (" + s.Why + ")" })
	per := func(s size) (cell, queue float64) {
		return s.Rate / float64(s.Cells), s.Rate / float64(s.Cells*s.Masters)
	}
	line("– for taking", "cells × λ_queue × 1.5 f ÷ (1 − ρ) ÷ (takers ρ)", func(s size) string {
		_, queue := per(s)
		return number(s.Cells * int(math.Ceil(queue*c.wait(full)/(deployment{Slots: slots}.takers()*full))))
	})
	line(fmt.Sprintf("– for calls of %.0f s in %d slots", call, slots), "cells × λ_queue (call + 2 wait) ÷ (slots ρ)", func(s size) string {
		_, queue := per(s)
		return number(s.Cells * int(math.Ceil(queue*(call+2*c.wait(full))/(slots*full))))
	})
	line("– for sweeping", "cells × λ' ÷ (e ρ)", func(s size) string {
		cell, _ := per(s)
		return number(s.Cells * int(math.Ceil(cell/(c.ExpireRate*full))))
	})
	line("– for eight cores each", "", func(s size) string { return number(s.Cells * int(math.Ceil(float64(s.Cores)/float64(s.Cells)/8))) })
	line("idle looks, of a core of a queue's master", "workers of a cell × 50 p", func(s size) string {
		return percent(float64(s.Workers) / float64(s.Cells) * 50 * c.PollRedis * micro)
	})
	line("idle sweeps, of a core of a master", "workers of a cell × s ÷ masters", func(s size) string {
		return percent(float64(s.Workers) / float64(s.Cells) * c.SweepRedis * micro / float64(s.Masters))
	})
	line("append-only files, in all", "λ l", func(s size) string { return bytesOf(s.Rate*c.Log) + "/s" })
	line("a live page hears", "k λ'", func(s size) string { cell, _ := per(s); return round(c.Messages*cell) + "/s" })
	return text.String()
}

// memoryTable is what retention costs.
func memoryTable(c costs) string {
	text := &table{}
	text.head("`retention.job`, `.key`", "10 k jobs/s", "100 k", "1 M")
	for _, keep := range [][2]time.Duration{{72 * time.Hour, 720 * time.Hour}, {time.Hour, 24 * time.Hour}, {10 * time.Minute, 10 * time.Minute}} {
		cells := []string{shortly(keep[0]) + ", " + shortly(keep[1])}
		for _, rate := range []float64{10_000, 100_000, 1_000_000} {
			cells = append(cells, bytesOf(rate*(keep[0].Seconds()*c.Bytes+keep[1].Seconds()*c.Key)))
		}
		text.row(cells...)
	}
	return text.String()
}

func shortly(d time.Duration) string {
	if d < time.Hour {
		return fmt.Sprintf("%.0fm", d.Minutes())
	}
	return fmt.Sprintf("%.0fh", d.Hours())
}
