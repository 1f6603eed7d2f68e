package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"onejob/config"
)

// Durability is what a Redis can lose of acknowledged writes (design §3).
type Durability string

// Classes of durability, the strongest first.
const (
	Fsync    Durability = "fsync"    // appendonly with appendfsync always: nothing
	Everysec Durability = "everysec" // appendonly otherwise: about the last second
	Memory   Durability = "memory"   // everything
)

// errNotDurable stops the boot: the server could lose jobs in ordinary work, or
// is weaker than the configuration asks for.
var errNotDurable = errors.New("this Redis does not keep the promises")

// checkStore looks at every master for what the guarantees rest on. A policy
// that evicts is refused, for it forgets keys of open jobs; a class weaker than
// asked for, too. It returns the weakest class found.
func checkStore(ctx context.Context, rdb redis.UniversalClient, want config.Redis) (Durability, error) {
	nodes, err := masters(ctx, rdb)
	weakest := Fsync
	for _, node := range nodes {
		var found Durability
		if found, err = checkNode(ctx, node); err != nil {
			break
		}
		if rank(found) < rank(weakest) {
			weakest = found
		}
	}
	if err != nil {
		return "", err
	}
	if want.Durability == config.DurabilityFsync && weakest != Fsync {
		return weakest, fmt.Errorf("%w: redis.durability asks for fsync and the server gives %s; "+
			"set appendonly yes and appendfsync always, or ask for any", errNotDurable, weakest)
	}
	return weakest, nil
}

// masters are the servers that take writes.
func masters(ctx context.Context, rdb redis.UniversalClient) ([]redis.UniversalClient, error) {
	cluster, ok := rdb.(*redis.ClusterClient)
	if !ok {
		return []redis.UniversalClient{rdb}, nil
	}
	var mu sync.Mutex // they are visited at once
	var nodes []redis.UniversalClient
	err := cluster.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		nodes = append(nodes, node)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking at the Cluster: %w", err)
	}
	return nodes, nil
}

func rank(d Durability) int {
	return map[Durability]int{Memory: 0, Everysec: 1, Fsync: 2}[d]
}

func checkNode(ctx context.Context, node redis.UniversalClient) (Durability, error) {
	info, err := node.Info(ctx).Result()
	if err != nil {
		return "", fmt.Errorf("asking Redis about itself: %w", err)
	}
	if policy := infoField(info, "maxmemory_policy"); policy != "" && policy != "noeviction" {
		return "", fmt.Errorf("%w: maxmemory-policy is %s, which forgets keys of open jobs; set it to noeviction",
			errNotDurable, policy)
	}
	if infoField(info, "aof_enabled") != "1" {
		return Memory, nil
	}
	// Managed servers refuse CONFIG; then nothing stronger is proven.
	values, err := node.ConfigGet(ctx, "appendfsync").Result()
	if err == nil && values["appendfsync"] == "always" {
		return Fsync, nil
	}
	return Everysec, nil
}

func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
