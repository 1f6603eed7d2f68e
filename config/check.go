package config

import (
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// checker looks at a Config whose defaults are set, whether it came from a file
// or from code.
type checker struct {
	*report
	types map[string]providerType // all that are known, by name
}

// goodName is the rule for names of providers and routes: both are parts of
// Redis keys, and of paths in messages.
var goodName = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

const nameRule = "want 1 to 64 of a-z, 0-9, _ and -"

// ourQueues are queue names a provider would collide with (design §4).
var ourQueues = []string{"operator", "webhooks"}

func (c checker) config(cfg *Config) {
	c.redis(cfg.Redis)
	c.address("server.addr", cfg.Server.Addr)
	c.adminAddress(cfg.Server)
	c.webAddress("server.public_url", cfg.Server.PublicURL)
	c.duration("server.door_wait", cfg.Server.DoorWait)
	c.connections(cfg.Server.MaxConnections)
	c.retention(cfg.Retention)
	c.webhooks(cfg.Webhooks)
	c.dashboard(cfg.Dashboard)
	c.tracing(cfg.Tracing)
	c.duration("certificates.lifetime", cfg.Certificates.Lifetime)
	if cfg.Certificates.Reverify != 0 {
		c.duration("certificates.reverify", cfg.Certificates.Reverify)
	}
	c.duration("drain", cfg.Drain)
	c.leases(cfg)
	c.limits(cfg.Limits)
	if len(cfg.Providers) == 0 {
		c.add("providers", "missing", "at least one provider is needed")
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		c.provider(name, cfg.Providers[name], cfg.Lease)
		if cfg.Providers[name].Callback && cfg.Server.PublicURL == "" {
			c.add("providers."+name+".callback", "there is no address to call back", "give server.public_url as well")
		}
	}
	if len(cfg.Routes) == 0 {
		c.add("routes", "missing", "at least one route is needed")
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Routes)) {
		c.route(name, cfg.Routes[name], cfg.Providers)
	}
}

func (c checker) redis(r Redis) {
	if why := r.refused(); why != "" {
		c.add("redis.url", why, "want redis://[user:password@]host:port/db, rediss://… or unix://…")
	}
	c.oneOf("redis.durability", r.Durability, DurabilityAny, DurabilityFsync)
	c.count("redis.wait_replicas", r.WaitReplicas, 0)
}

func (c checker) retention(r Retention) {
	c.duration("retention.job", r.Job)
	c.duration("retention.key", r.Key)
	if r.Key < r.Job {
		c.add("retention.key", fmt.Sprintf("%s is less than retention.job (%s)", short(r.Key), short(r.Job)),
			"a key is kept at least as long as its job", "retention.job")
	}
}

// leases: a worker that misses two beats in a row still holds its lease.
func (c checker) leases(cfg *Config) {
	c.duration("lease", cfg.Lease)
	c.duration("beat", cfg.Beat)
	if cfg.Beat > cfg.Lease/3 {
		c.add("lease", fmt.Sprintf("%s is less than three beats of %s", short(cfg.Lease), short(cfg.Beat)),
			"want 3 × beat ≤ lease", "beat")
	}
}

func (c checker) address(path, addr string) {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		c.add(path, clip(addr)+" is not an address", "want host:port, such as 127.0.0.1:8080 or :8080")
	}
}

// adminAddress must be another than that of the API: what is served there asks for no
// key. Port 0 is another one each time.
func (c checker) adminAddress(s Server) {
	if s.AdminAddr == "" {
		return
	}
	c.address("server.admin_addr", s.AdminAddr)
	host, port, err := net.SplitHostPort(s.AdminAddr)
	apiHost, apiPort, apiErr := net.SplitHostPort(s.Addr)
	if err != nil || apiErr != nil || port != apiPort || port == "0" {
		return
	}
	if host == apiHost || everywhere(host) || everywhere(apiHost) {
		c.add("server.admin_addr", clip(s.AdminAddr)+" is where server.addr ("+clip(s.Addr)+") listens, too",
			"give it a port of its own", "server.addr")
	}
}

// maxConnections is beyond what a process is let open.
const maxConnections = 1_000_000

func (c checker) connections(n int) {
	if n < 1 || n > maxConnections {
		c.add("server.max_connections", strconv.Itoa(n)+" is out of range", numberRange(1, maxConnections))
	}
}

// everywhere tells whether a listener at host hears every address of the machine.
func everywhere(host string) bool { return host == "" || host == "0.0.0.0" || host == "::" }

func (c checker) duration(path string, d time.Duration) {
	if d < minDuration || d > maxDuration {
		c.add(path, d.String()+" is out of range", durationRange)
	}
}

func (c checker) count(path string, n, least int) {
	if n < least || n > maxCount {
		c.add(path, strconv.Itoa(n)+" is out of range", numberRange(least, maxCount))
	}
}

func (c checker) oneOf(path, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		c.add(path, clip(value)+" is not known", oneOf(value, allowed))
	}
}

// short writes 72h, not 72h0m0s.
func short(d time.Duration) string {
	s := d.String()
	for _, tail := range []string{"m0s", "h0m"} {
		if len(s) > len(tail) && s[len(s)-len(tail):] == tail {
			s = s[:len(s)-2]
		}
	}
	return s
}
