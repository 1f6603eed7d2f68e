package app

// pools are the connections of this process to Redis, those of scripts too.
type pools struct{ total, idle, timeouts uint32 }

func (a *App) pools() pools {
	stats := a.rdb.PoolStats()
	all := pools{stats.TotalConns, stats.IdleConns, stats.Timeouts}
	if scripts := stats.PipelineStats; scripts != nil {
		all.total += scripts.TotalConns
		all.idle += scripts.IdleConns
		all.timeouts += scripts.Timeouts
	}
	return all
}
