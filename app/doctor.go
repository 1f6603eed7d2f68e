package app

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"onejob/config"
)

// Verdict is how serious a finding is.
type Verdict string

// Verdicts.
const (
	Good Verdict = "ok"
	Warn Verdict = "warn" // it works, and something is not as promised
	Bad  Verdict = "bad"  // onejob refuses to run on it, or cannot
)

// Finding is one thing looked at.
type Finding struct {
	What    string  `json:"what"`
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`
	Hint    string  `json:"hint,omitempty"`
}

// Limits of what is fine.
const (
	oldestRedis  = "6.2"
	mostSkew     = time.Second
	mostLatency  = 20 * time.Millisecond
	latencyTries = 20
)

// Examine looks whether a Redis keeps the promises: persistence, eviction
// policy, version, clock and latency. It changes nothing.
func Examine(ctx context.Context, target config.Redis) []Finding {
	rdb, err := connection{target}.client()
	if err != nil {
		return []Finding{{What: "url", Verdict: Bad, Found: err.Error()}}
	}
	defer func() { _ = rdb.Close() }()
	info, err := rdb.Info(ctx).Result()
	if err != nil {
		return []Finding{{
			What: "connection", Verdict: Bad, Found: err.Error(),
			Hint: "is it running, and is redis.url right?",
		}}
	}
	return []Finding{
		{What: "connection", Verdict: Good, Found: "Redis answers"},
		examineVersion(infoField(info, "redis_version")),
		examineStore(ctx, rdb, target),
		examineClock(ctx, rdb),
		examineLatency(ctx, rdb),
	}
}

func examineVersion(version string) Finding {
	f := Finding{What: "version", Verdict: Good, Found: version}
	if version != "" && older(version, oldestRedis) {
		f.Verdict, f.Hint = Bad, "Redis "+oldestRedis+" or newer is needed"
	}
	return f
}

func older(version, than string) bool {
	a, b := strings.Split(version, "."), strings.Split(than, ".")
	for i := range b {
		if i >= len(a) {
			return true
		}
		x, _ := strconv.Atoi(a[i])
		y, _ := strconv.Atoi(b[i])
		if x != y {
			return x < y
		}
	}
	return false
}

func examineStore(ctx context.Context, rdb redis.UniversalClient, target config.Redis) Finding {
	class, err := checkStore(ctx, rdb, target)
	f := Finding{What: "durability", Verdict: Good, Found: string(class)}
	switch {
	case err != nil:
		f.Verdict, f.Found = Bad, err.Error()
	case class != Fsync:
		f.Verdict = Warn
		f.Hint = "a crash can lose acknowledged jobs; set appendonly yes and appendfsync always"
	}
	return f
}

func examineClock(ctx context.Context, rdb redis.UniversalClient) Finding {
	before := time.Now()
	there, err := rdb.Time(ctx).Result()
	if err != nil {
		return Finding{What: "clock", Verdict: Bad, Found: err.Error()}
	}
	half := time.Since(before) / 2
	skew := there.Sub(before.Add(half)).Abs()
	f := Finding{What: "clock", Verdict: Good, Found: fmt.Sprintf("%v apart", skew.Round(time.Millisecond))}
	if skew > mostSkew+half {
		f.Verdict = Warn
		f.Hint = "rules go by the clock of Redis, so this harms nothing but the reading of logs; mend NTP"
	}
	return f
}

func examineLatency(ctx context.Context, rdb redis.UniversalClient) Finding {
	times := make([]time.Duration, 0, latencyTries)
	for range latencyTries {
		before := time.Now()
		if err := rdb.Ping(ctx).Err(); err != nil {
			return Finding{What: "latency", Verdict: Bad, Found: err.Error()}
		}
		times = append(times, time.Since(before))
	}
	slices.Sort(times)
	median := times[len(times)/2]
	f := Finding{What: "latency", Verdict: Good, Found: fmt.Sprintf("median %v", median.Round(10*time.Microsecond))}
	if median > mostLatency {
		f.Verdict, f.Hint = Warn, "every job needs several round trips; bring Redis closer"
	}
	return f
}
