package webhooks

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

// FuzzAddress: an address that is taken is https to a host that is not of the inside,
// as far as the text says.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{
		"https://receiver.example/hook", "https://127.0.0.1/", "https://2130706433/", "https://0x7f.1/", "https://0177.0.0.1/", "https://[::ffff:7f00:1]/", "https://localhost./", "https://a@127.0.0.1/",
		"https://127.0.0.1%2f@example.com/", "https://example.com\\@127.0.0.1/", "https://[fe80::1%25lo]/", "https://①②⑦.0.0.1/", "https:/127.0.0.1", "HTTPS://[::]/", "https://example.com:99999/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if (Addresses{}).Check(address) != nil {
			return
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Hostname() == "" || len(address) > maxURL {
			t.Fatalf("%q was taken", address)
		}
		ip, err := netip.ParseAddr(u.Hostname())
		if err != nil {
			name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
			if name == "localhost" || strings.HasSuffix(name, ".localhost") {
				t.Fatalf("%q was taken", address)
			}
			return
		}
		if ip = ip.Unmap(); ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
			t.Fatalf("%q was taken", address)
		}
	})
}

// FuzzRetryAfter: whatever a receiver asks for, it is asked again within a day.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "1", "-1", "99999999999", "Mon, 30 Nov 2026 08:00:00 GMT", "Mon, 30 Nov 9999 08:00:00 GMT", "0x1", "1.5"} {
		f.Add(seed)
	}
	now := time.Unix(1796024410, 0)
	f.Fuzz(func(t *testing.T, text string) {
		if wait := retryAfter(text, now); wait < 0 || wait > maxRetryAfter {
			t.Fatalf("%q asks for %s", text, wait)
		}
	})
}
