package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"onejob/e2e/process"

	"github.com/redis/go-redis/v9"
)

// stand is a Redis, or a Cluster of some, and what was started beside it.
type stand struct {
	dir       string
	binary    string
	addrs     []string
	nodes     []*exec.Cmd
	processes process.Group
	rdb       redis.UniversalClient
}

const (
	slots = 16384
	// startTime bounds every wait for something that starts or comes to rest.
	startTime = 30 * time.Second
)

// newStand starts so many masters; one of them is no Cluster.
func newStand(ctx context.Context, binary string, masters int) (*stand, error) {
	dir, err := os.MkdirTemp("", "onejob-scale-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	s := &stand{dir: dir, binary: binary, processes: process.Group{Dir: dir}}
	for i := range masters {
		if err := s.startNode(ctx, i, masters > 1); err != nil {
			s.close()
			return nil, err
		}
	}
	if masters == 1 {
		s.rdb = redis.NewClient(&redis.Options{Addr: s.addrs[0], PoolSize: 100})
		return s, nil
	}
	s.rdb = redis.NewClusterClient(&redis.ClusterOptions{Addrs: s.addrs, PoolSize: 100})
	if err := s.join(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stand) startNode(ctx context.Context, i int, cluster bool) error {
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	dir := filepath.Join(s.dir, strconv.Itoa(i))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	_, port, _ := net.SplitHostPort(addr)
	args := []string{
		"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "yes",
		"--appendfsync", "always", "--auto-aof-rewrite-percentage", "0", "--maxmemory-policy", "noeviction",
	}
	if cluster {
		args = append(args, "--cluster-enabled", "yes")
	}
	cmd := exec.CommandContext(ctx, "redis-server", args...)
	if err := s.processes.Start("redis", cmd); err != nil {
		return err
	}
	s.nodes, s.addrs = append(s.nodes, cmd), append(s.addrs, addr)
	node := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = node.Close() }()
	return process.Until(ctx, startTime, func(ctx context.Context) error { return node.Ping(ctx).Err() })
}

// join shares the slots among the nodes and waits until all know it.
func (s *stand) join(ctx context.Context) error {
	host, port, err := net.SplitHostPort(s.addrs[0])
	if err != nil {
		return fmt.Errorf("reading an address: %w", err)
	}
	for i, addr := range s.addrs {
		node := redis.NewClient(&redis.Options{Addr: addr})
		n := len(s.addrs)
		err := errors.Join(node.ClusterAddSlotsRange(ctx, i*slots/n, (i+1)*slots/n-1).Err(), node.ClusterMeet(ctx, host, port).Err())
		_ = node.Close()
		if err != nil {
			return fmt.Errorf("making a Cluster: %w", err)
		}
	}
	for _, addr := range s.addrs {
		node := redis.NewClient(&redis.Options{Addr: addr})
		err := process.Until(ctx, startTime, func(ctx context.Context) error {
			info, err := node.ClusterInfo(ctx).Result()
			if err == nil && (!strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, fmt.Sprint("cluster_known_nodes:", len(s.addrs)))) {
				err = errors.New("the Cluster is not up")
			}
			return err
		})
		_ = node.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *stand) close() {
	if s.rdb != nil {
		_ = s.rdb.Close()
	}
	s.processes.Close()
}

// url is the address of the store in a configuration.
func (s *stand) url() string {
	if len(s.addrs) == 1 {
		return "redis://" + s.addrs[0] + "/0"
	}
	return "redis://" + s.addrs[0] + "?addr=" + strings.Join(s.addrs[1:], "&addr=")
}

func (s *stand) pids() []int {
	pids := make([]int, len(s.nodes))
	for i, node := range s.nodes {
		pids[i] = node.Process.Pid
	}
	return pids
}

// onejob starts an API or a worker with providers of these names, and waits until it
// is ready.
func (s *stand) onejob(ctx context.Context, kind string, providers []string) (*exec.Cmd, string, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, "", err
	}
	config := filepath.Join(s.dir, "onejob.yaml")
	var text strings.Builder
	_, _ = fmt.Fprintf(&text, "redis: {url: %q, wait_replicas: 0}\nproviders:\n", s.url())
	for _, name := range providers {
		text.WriteString("  " + name + ": {type: simulated, concurrency: 64}\n")
	}
	text.WriteString("routes:\n  print: {providers: [" + strings.Join(providers, ", ") + "], failover: untested}\n")
	if err := os.WriteFile(config, []byte(text.String()), 0o600); err != nil {
		return nil, "", fmt.Errorf("writing a configuration: %w", err)
	}
	cmd := exec.CommandContext(ctx, s.binary, kind, "--config", config, "--addr", addr)
	cmd.Env = append(os.Environ(), "ONEJOB_DEV_KEYS=1")
	if err := s.processes.Start(kind, cmd); err != nil {
		return nil, "", err
	}
	return cmd, addr, process.Until(ctx, startTime, func(ctx context.Context) error { return process.Ready(ctx, addr) })
}

// freeAddr is an address of the loopback whose port is free, and the one 10,000 above,
// which a Cluster's node takes as well.
func freeAddr() (string, error) {
	const bus = 10_000
	for port := 11_000 + os.Getpid()*131%20_000; port < 55_000; port++ {
		if taken[port] || !free(port) || !free(port+bus) {
			continue
		}
		taken[port] = true
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
	}
	return "", errors.New("no port is free")
}

func free(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// taken are the ports handed out; nothing here asks for them at once.
var taken = map[int]bool{}
