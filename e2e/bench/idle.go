package main

import (
	"context"
	"time"
)

const (
	idleTime   = 10 * time.Second
	settleTime = 2 * time.Second // after the start
)

// idleCost is what an API, a worker and Redis use while nobody wants anything.
func idleCost(ctx context.Context, b *bench, _ string) error {
	api, err := b.onejob(ctx, "api")
	if err != nil {
		return err
	}
	defer b.stop(api)
	worker, err := b.onejob(ctx, "worker")
	if err != nil {
		return err
	}
	defer b.stop(worker)
	if err := pause(ctx, settleTime); err != nil {
		return err
	}
	before, err := b.idleUsage(ctx, api, worker)
	if err != nil {
		return err
	}
	if err := pause(ctx, idleTime); err != nil {
		return err
	}
	after, err := b.idleUsage(ctx, api, worker)
	if err != nil {
		return err
	}
	for name, value := range after {
		b.figures.add(name, (value-before[name])/idleTime.Seconds())
	}
	return nil
}

// idleUsage is what has been used so far, by the name of what it is a second.
func (b *bench) idleUsage(ctx context.Context, api, worker *server) (map[string]float64, error) {
	used := map[string]float64{}
	for name, s := range map[string]*server{"api": api, "worker": worker} {
		trips, err := s.trips(ctx)
		if err != nil {
			return nil, err
		}
		used["idle round trips of "+name+"/s"] = trips
	}
	for name, pid := range map[string]int{
		"api": api.cmd.Process.Pid, "worker": worker.cmd.Process.Pid, "Redis": b.store.cmd.Process.Pid,
	} {
		spent, err := cpuTime(pid)
		if err != nil {
			return nil, err
		}
		used["idle cpu of "+name+" ms/s"] = float64(spent.Microseconds()) / 1000
	}
	return used, nil
}
