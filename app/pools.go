package app

import "github.com/redis/go-redis/v9"

// pools are the connections of this process to Redis, of all its clients' pools.
type pools struct{ total, idle, timeouts uint32 }

func (a *App) pools() pools {
	var all pools
	for _, client := range []redis.UniversalClient{a.rdb, a.carrier} {
		stats := client.PoolStats()
		all.total += stats.TotalConns
		all.idle += stats.IdleConns
		all.timeouts += stats.Timeouts
		if pipelines := stats.PipelineStats; pipelines != nil {
			all.total += pipelines.TotalConns
			all.idle += pipelines.IdleConns
			all.timeouts += pipelines.Timeouts
		}
	}
	return all
}
