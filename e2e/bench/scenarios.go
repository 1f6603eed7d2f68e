package main

import "context"

// a scenario is one thing measured, once a round.
type scenario struct {
	name string
	once bool // at the end, instead of in every round
	run  func(ctx context.Context, b *bench, name string) error
}

var scenarios = []scenario{
	{name: "echo", run: floorRate(floorEcho)},
	{name: "setnx", run: floorRate(floorSetNX)},
	{name: "enqueue", run: floorRate(floorEnqueue)},
	{name: "submit", run: submitAlone},
	{name: "submit-executing", run: submitExecuting},
	{name: "replay", run: replay},
	{name: "get", run: getJob},
	{name: "delay", run: delay},
	{name: "worked", run: floorEndToEnd},
	{name: "end-to-end", run: endToEnd},
	{name: "setnx-everysec", run: everySecond(floorRate(floorSetNX))},
	{name: "submit-everysec", run: everySecond(submitAlone)},
	{name: "end-to-end-everysec", run: everySecond(endToEnd)},
	{name: "open-loop", once: true, run: openLoops},
	{name: "commands", once: true, run: countCommands},
	{name: "memory", once: true, run: memoryOfJobs},
	{name: "idle", once: true, run: idleCost},
	{name: "scripts", once: true, run: scriptTimes},
	{name: "stored", once: true, run: stored},
}
