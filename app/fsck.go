package app

import (
	"context"
	"errors"
	"time"

	"onejob/config"
	"onejob/jobs"
	"onejob/recovery"
	"onejob/tasks"
)

// Fsck checks the store of cfg and, with repair, mends it; found is told of
// everything that does not agree.
func Fsck(ctx context.Context, cfg *config.Config, repair bool, found func(recovery.Finding)) (recovery.Checked, error) {
	rdb, err := connection{cfg.Redis}.client()
	if err != nil {
		return recovery.Checked{}, err
	}
	store := jobs.NewStore(rdb, jobs.Options{KeepJob: cfg.Retention.Job, KeepKey: cfg.Retention.Key, Lease: cfg.Lease})
	fsck := recovery.Fsck{
		Store: store, Queues: providerNames(cfg), Repair: repair, Found: found,
		Queue: tasks.NewQueue(rdb, func(string) time.Duration { return time.Minute }),
	}
	checked, err := fsck.Run(ctx)
	return checked, errors.Join(err, store.Close(), rdb.Close())
}
