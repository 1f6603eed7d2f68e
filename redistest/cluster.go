package redistest

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// EachAndCluster runs a test on the stores of Each and on a Redis Cluster.
func EachAndCluster(t *testing.T, test func(t *testing.T, rdb redis.UniversalClient)) {
	t.Helper()
	Each(t, func(t *testing.T, rdb *redis.Client) { test(t, rdb) })
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		test(t, Cluster(t))
	})
}

// masters is how many a Cluster has; they share the slots.
const (
	masters = 3
	slots   = 16384
)

// clusters are those of this process, nil where none has been started yet. A Cluster
// has one database, so a test has it to itself.
var clusters = func() chan []string {
	c := make(chan []string, 2)
	for range cap(c) {
		c <- nil
	}
	return c
}()

// Cluster returns a client of an empty Redis Cluster of three masters without
// replicas. It ends with this process. Without redis-server it is as with Real.
func Cluster(t testing.TB) *redis.ClusterClient {
	t.Helper()
	Require(t)
	addrs := <-clusters
	t.Cleanup(func() { clusters <- addrs })
	if addrs == nil {
		started, err := startCluster(t.Context())
		require.NoError(t, err, "starting a Redis Cluster")
		addrs = started
	}
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs})
	t.Cleanup(func() { _ = rdb.Close() })
	require.NoError(t, rdb.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
		return node.FlushAll(ctx).Err()
	}))
	return rdb
}

// startCluster starts the masters and returns their addresses. Each is given its port
// of the bus, too: the one it would take by itself, 10,000 higher, is among those that
// the system gives to connections.
func startCluster(ctx context.Context) ([]string, error) {
	addrs, buses := make([]string, masters), make([]string, masters)
	for i := range addrs {
		bus, err := FreePort()
		if err != nil {
			return nil, err
		}
		buses[i] = strconv.Itoa(bus)
		if addrs[i], err = start("--cluster-enabled yes --cluster-port " + buses[i]); err != nil {
			return nil, err
		}
	}
	for i, addr := range addrs {
		if err := join(ctx, addr, addrs[0], buses[0], i*slots/masters, (i+1)*slots/masters-1); err != nil {
			return nil, fmt.Errorf("joining %s to the cluster: %w", addr, err)
		}
	}
	for _, addr := range addrs {
		if err := joined(ctx, addr); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

// join gives a node its slots, and makes it known to the first.
func join(ctx context.Context, addr, first, bus string, from, to int) error {
	node := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = node.Close() }()
	if err := node.ClusterAddSlotsRange(ctx, from, to).Err(); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(first)
	if err != nil {
		return err
	}
	return node.Do(ctx, "cluster", "meet", host, port, bus).Err()
}

// joined waits until a node sees the whole cluster, half a minute at most.
func joined(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	node := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = node.Close() }()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		info, err := node.ClusterInfo(ctx).Result()
		if err == nil && strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:"+strconv.Itoa(masters)) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the cluster does not come up at %s: %w", addr, ctx.Err())
		}
	}
}
