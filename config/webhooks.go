package config

import (
	"cmp"
	"net/netip"
	"time"

	"go.yaml.in/yaml/v3"
)

// Webhooks are about telling jobs' webhook_url what has become of them
// (docs/webhooks.md).
type Webhooks struct {
	// Concurrency is how many deliveries a worker makes at once. Key
	// webhooks.concurrency, a count. Defaults to 10.
	Concurrency int

	// Timeout is how long one try may take. Key webhooks.timeout, a duration, 60s at
	// most. Defaults to 15s.
	Timeout time.Duration

	// AllowPrivate are networks that deliveries may go to although they are not
	// public. Key webhooks.allow_private: true for all, false for none, or a list in
	// CIDR notation. Defaults to none.
	AllowPrivate []netip.Prefix

	// AllowHTTP takes webhook URLs without TLS. Key webhooks.allow_http, true or
	// false. Defaults to false.
	AllowHTTP bool
}

const (
	defaultWebhookConcurrency = 10
	defaultWebhookTimeout     = 15 * time.Second
	maxWebhookTimeout         = time.Minute
)

func (w *Webhooks) setDefaults() {
	w.Concurrency = cmp.Or(w.Concurrency, defaultWebhookConcurrency)
	w.Timeout = cmp.Or(w.Timeout, defaultWebhookTimeout)
}

func (r reader) webhooks(to *Webhooks) field {
	return func(path string, n *yaml.Node) {
		r.mapping(path, n, map[string]field{
			"concurrency":   r.count(&to.Concurrency, 1),
			"timeout":       r.duration(&to.Timeout),
			"allow_private": r.networks(&to.AllowPrivate),
			"allow_http":    r.flag(&to.AllowHTTP),
		})
	}
}

const wantNetworks = "want true, false, or a list of networks such as [10.0.0.0/8, fd00::/8]"

// networks reads true for everywhere, false for nowhere, or a list.
func (r reader) networks(to *[]netip.Prefix) field {
	return func(path string, n *yaml.Node) {
		switch {
		case n.Kind == yaml.SequenceNode:
			r.networkList(to)(path, n)
		case !r.scalar(path, n, wantNetworks):
		case n.Value == "true":
			*to = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
		case n.Value != "false":
			r.add(path, r.shown(n)+" is neither true, false nor a list", wantNetworks)
		}
	}
}

func (r reader) networkList(to *[]netip.Prefix) field {
	return func(path string, n *yaml.Node) {
		var texts []string
		r.texts(&texts)(path, n)
		for i, text := range texts {
			if r.isBad(element(path, i)) {
				continue
			}
			network, err := netip.ParsePrefix(text)
			if err != nil {
				r.add(element(path, i), clip(text)+" is not a network", "want CIDR notation, such as 10.0.0.0/8 or fd00::/8")
				continue
			}
			*to = append(*to, network.Masked())
		}
	}
}

func (c checker) webhooks(w Webhooks) {
	c.count("webhooks.concurrency", w.Concurrency, 1)
	c.duration("webhooks.timeout", w.Timeout)
	if w.Timeout > maxWebhookTimeout {
		c.add("webhooks.timeout", short(w.Timeout)+" is more than "+short(maxWebhookTimeout), "a receiver answers first and works then")
	}
}
