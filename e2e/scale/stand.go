package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// stand is a Redis, or a Cluster of some, and what was started beside it.
type stand struct {
	dir       string
	binary    string
	addrs     []string
	nodes     []*exec.Cmd
	processes []*exec.Cmd
	rdb       redis.UniversalClient
}

const slots = 16384

// newStand starts so many masters; one of them is no Cluster.
func newStand(ctx context.Context, binary string, masters int) (*stand, error) {
	dir, err := os.MkdirTemp("", "onejob-scale-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	s := &stand{dir: dir, binary: binary}
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
	if err := s.start("redis", cmd); err != nil {
		return err
	}
	s.nodes, s.addrs = append(s.nodes, cmd), append(s.addrs, addr)
	node := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = node.Close() }()
	return until(ctx, func() error { return node.Ping(ctx).Err() })
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
		err := until(ctx, func() error {
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

// start runs a process until close; what it says goes to a file.
func (s *stand) start(name string, cmd *exec.Cmd) error {
	out, err := os.OpenFile(filepath.Join(s.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening a log: %w", err)
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	s.processes = append(s.processes, cmd)
	return nil
}

// stop ends a process as an operator would.
func (s *stand) stop(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
}

func (s *stand) close() {
	if s.rdb != nil {
		_ = s.rdb.Close()
	}
	for _, cmd := range s.processes {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	_ = os.RemoveAll(s.dir)
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
	if err := s.start(kind, cmd); err != nil {
		return nil, "", err
	}
	return cmd, addr, until(ctx, func() error { return ready(ctx, addr) })
}

func ready(ctx context.Context, addr string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/readyz", http.NoBody)
	if err != nil {
		return fmt.Errorf("asking for readiness: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking for readiness: %w", err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %d", response.StatusCode)
	}
	return nil
}

// until asks again and again whether something is the case, for half a minute.
func until(ctx context.Context, ask func() error) error {
	for deadline := time.Now().Add(30 * time.Second); ; {
		err := ask()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waiting: %w", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
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
