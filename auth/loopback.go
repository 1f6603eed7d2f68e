package auth

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// CheckAddr refuses an address to listen at that others can reach, when the
// fixed keys are on or when there is no key at all (design §8).
func CheckAddr(addr string, devKeys, anyKeys bool) error {
	if loopback(addr) {
		return nil
	}
	switch {
	case devKeys:
		return fmt.Errorf("refusing to listen at %s: the fixed keys (ONEJOB_DEV_KEYS) are public; use 127.0.0.1, or turn them off", addr)
	case !anyKeys:
		return fmt.Errorf("refusing to listen at %s: there is no API key yet; make one with onejob keys create, or use 127.0.0.1", addr)
	}
	return nil
}

// loopback takes names other than localhost for reachable, without resolving
// them: what they resolve to can change.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") { // RFC 6761 §6.3
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
