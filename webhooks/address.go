package webhooks

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// maxURL is the longest URL of a webhook, in bytes.
const maxURL = 2048

// Addresses says where deliveries may go. The zero value is the strict one: https
// to public addresses.
type Addresses struct {
	// AllowHTTP lets deliveries go without TLS. To a loopback address that is
	// allowed they always may.
	AllowHTTP bool
	// Allow are networks that may be reached although they are not public:
	// loopback, private (RFC 1918, RFC 4193), link-local with the metadata services
	// of clouds, shared (RFC 6598), multicast, and the rest of the IANA
	// special-purpose registries. Defaults to none.
	Allow []netip.Prefix
}

// Everywhere are the networks that allow any address.
func Everywhere() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
}

// Loopback are the networks of the machine itself.
func Loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// metadataV4 are services of clouds at addresses that look public: Azure's
// (168.63.129.16). Those of the others are link-local or shared.
var metadataV4 = netip.MustParsePrefix("168.63.129.16/32")

var errPrivate = errors.New("the address is not a public one; the operator can allow it with webhooks.allow_private")

// guard judges addresses by the IANA registries (code.dny.dev/ssrf).
func (a Addresses) guard() *ssrf.Guardian {
	var v4, v6 []netip.Prefix
	for _, prefix := range a.Allow {
		if prefix.Addr().Is4() {
			v4 = append(v4, prefix)
		} else {
			v6 = append(v6, prefix)
		}
	}
	return ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...),
		ssrf.WithDeniedV4Prefixes(metadataV4))
}

// control is asked by the dialer about the very address it is about to connect to:
// after the name was looked up, so that a name that changes its mind gains nothing.
func (a Addresses) control() func(network, address string, c syscall.RawConn) error {
	guard := a.guard()
	return func(network, address string, c syscall.RawConn) error {
		if err := guard.Safe(network, address, c); err != nil {
			return fmt.Errorf("%w (%w)", errPrivate, err)
		}
		return nil
	}
}

// Check tells what is wrong with the URL of a webhook, in words for whoever sent
// it. A name is not looked up: what it stands for is judged at every delivery.
func (a Addresses) Check(address string) error {
	if len(address) > maxURL {
		return fmt.Errorf("it is longer than %d bytes", maxURL)
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "" || (u.Scheme != "https" && u.Scheme != "http"):
		return errors.New("it must be an absolute https URL")
	case u.User != nil:
		return errors.New("it must not hold a user name or password: deliveries are signed instead")
	case strings.Contains(address, "#"):
		return errors.New("it must not have a fragment")
	case !goodPort(u.Port()):
		return errors.New("its port is not one")
	}
	ip, literal := literalHost(u.Hostname())
	if literal && a.guard().SafeAddr(ip) != nil {
		return errPrivate
	}
	if u.Scheme == "http" && !a.AllowHTTP && !(literal && ip.IsLoopback()) {
		return errors.New("it must be an https URL; the operator can allow http with webhooks.allow_http")
	}
	return nil
}

func goodPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// literalHost is the address a host says outright: an IP address, or localhost,
// which never leaves the machine (RFC 6761 §6.3).
func literalHost(host string) (netip.Addr, bool) {
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	ip, err := netip.ParseAddr(name)
	return ip.Unmap().WithZone(""), err == nil
}

// Host names the receiver a URL belongs to: host and port, in lower case.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.ToLower(net.JoinHostPort(u.Hostname(), port))
}

// ParseNetworks reads networks in CIDR notation, for Addresses.Allow.
func ParseNetworks(texts []string) ([]netip.Prefix, error) {
	networks := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a network in CIDR notation: %w", text, err)
		}
		networks = append(networks, prefix.Masked())
	}
	return slices.Clip(networks), nil
}
