package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// storeNode is one server of the store that takes writes, as it tells of itself. What
// a server does not tell is empty or 0.
type storeNode struct {
	Name       string // its address in a Cluster
	Version    string
	Used       int64 // bytes
	Most       int64 // bytes; 0: no limit
	Policy     string
	Replicas   int64
	LastSave   string // of the append-only file: ok, or what went wrong
	UptimeDays int64
}

// Full is how full its memory is, in per cent; -1 without a limit.
func (n storeNode) Full() int64 {
	if n.Most == 0 {
		return -1
	}
	return n.Used * 100 / n.Most
}

// nearlyFull is the share of its memory at which a server should be looked after: at
// 100 it takes no writes, and no job is accepted.
const nearlyFull = 80

// NearlyFull tells whether somebody should look after its memory.
func (n storeNode) NearlyFull() bool { return n.Full() >= nearlyFull }

// storeNodes asks every server that takes writes.
func storeNodes(ctx context.Context, rdb redis.UniversalClient) ([]storeNode, error) {
	cluster, ok := rdb.(*redis.ClusterClient)
	if !ok {
		node, err := askNode(ctx, rdb, "")
		return []storeNode{node}, err
	}
	var mu sync.Mutex // they are visited at once
	var nodes []storeNode
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		node, err := askNode(ctx, master, master.Options().Addr)
		mu.Lock()
		defer mu.Unlock()
		nodes = append(nodes, node)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking at the Cluster: %w", err)
	}
	slices.SortFunc(nodes, func(a, b storeNode) int { return cmp.Compare(a.Name, b.Name) })
	return nodes, nil
}

func askNode(ctx context.Context, rdb redis.Cmdable, name string) (storeNode, error) {
	node := storeNode{Name: name}
	if err := rdb.Ping(ctx).Err(); err != nil {
		return node, fmt.Errorf("asking the store: %w", err)
	}
	info, err := rdb.Info(ctx).Result()
	if err != nil {
		return node, nil //nolint:nilerr // some servers do not tell; the page says so
	}
	facts := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			facts[name] = value
		}
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(facts[name], 10, 64)
		return n
	}
	node.Version, node.Policy, node.LastSave = facts["redis_version"], facts["maxmemory_policy"], facts["aof_last_write_status"]
	node.Used, node.Most = number("used_memory"), number("maxmemory")
	node.Replicas, node.UptimeDays = number("connected_slaves"), number("uptime_in_days")
	return node, nil
}
