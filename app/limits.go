package app

import (
	"onejob/limits"
)

// limits holds owners to what the configuration lets them ask for. Where it limits
// nothing, that costs nothing.
func (a *App) limits() *limits.Limiter {
	settings := func(owner string) limits.Settings {
		l := a.cfg.Limits.For(owner)
		return limits.Settings{Rate: l.RequestsPerSecond, Burst: l.Burst, OpenJobs: l.OpenJobs}
	}
	return limits.New(a.rdb, settings, a.store.OpenJobs)
}
