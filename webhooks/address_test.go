package webhooks

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddresses_Check(t *testing.T) {
	t.Parallel()
	strict := Addresses{}
	tests := map[string]struct {
		rules   Addresses
		address string
		problem string // contained; empty: it is good
	}{
		"https":              {strict, "https://receiver.example/hook?tenant=1", ""},
		"a port":             {strict, "https://receiver.example:8443/hook", ""},
		"a public address":   {strict, "https://9.9.9.9/hook", ""},
		"http":               {strict, "http://receiver.example/hook", "must be an https URL"},
		"http, allowed":      {Addresses{AllowHTTP: true}, "http://receiver.example/hook", ""},
		"http to loopback":   {Addresses{Allow: Loopback()}, "http://127.0.0.1:9000/hook", ""},
		"http to localhost":  {Addresses{Allow: Loopback()}, "http://localhost:9000/hook", ""},
		"http to ::1":        {Addresses{Allow: Loopback()}, "http://[::1]:9000/hook", ""},
		"no URL":             {strict, "receiver.example/hook", "absolute https URL"},
		"no host":            {strict, "https:///hook", "absolute https URL"},
		"a file":             {strict, "file:///etc/passwd", "absolute https URL"},
		"opaque":             {strict, "https:receiver.example", "absolute https URL"},
		"credentials":        {strict, "https://user:pw@receiver.example/", "user name or password"},
		"a fragment":         {strict, "https://receiver.example/#top", "fragment"},
		"an empty fragment":  {strict, "https://receiver.example/#", "fragment"},
		"a bad port":         {strict, "https://receiver.example:0/", "port"},
		"too long":           {strict, "https://receiver.example/" + strings.Repeat("a", 2048), "longer than 2048 bytes"},
		"a private network":  {Addresses{Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}, "https://10.1.2.3/", ""},
		"beside the network": {Addresses{Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}, "https://10.2.2.3/", "not a public one"},
		"everywhere":         {Addresses{Allow: Everywhere()}, "https://169.254.169.254/", ""},
	}
	for _, host := range []string{
		"127.0.0.1", "127.8.8.8", "localhost", "LOCALHOST.", "a.localhost", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
		"169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "239.255.255.255", "255.255.255.255", "198.18.0.1", "168.63.129.16",
		"[::]", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[fd00:ec2::254]", "[fe80::1%25eth0]", "[ff02::1]",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[2001:db8::1]", "[2001:0:7f00:1::]",
	} {
		tests["private "+host] = struct {
			rules   Addresses
			address string
			problem string
		}{strict, "https://" + host + "/hook", "not a public one; the operator can allow it with webhooks.allow_private"}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.rules.Check(test.address)
			if test.problem == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.problem)
		})
	}
}

// What a name stands for is judged when it is dialled: the address itself, after the
// look-up, whatever the name said before.
func TestAddresses_ControlJudgesTheAddressDialled(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	// A resolver of our own stands for a name whose address has changed since it
	// was checked.
	dial := func(a Addresses) error {
		dialer := &net.Dialer{Control: a.control()}
		conn, err := dialer.DialContext(context.Background(), "tcp", net.JoinHostPort("localhost", port))
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
	require.ErrorIs(t, dial(Addresses{}), errPrivate)
	require.NoError(t, dial(Addresses{Allow: Loopback()}))
	control := Addresses{}.control()
	for _, address := range []string{"169.254.169.254:80", "10.0.0.1:443", "[::ffff:127.0.0.1]:80", "168.63.129.16:80", "[fd00::1]:443"} {
		network := "tcp4"
		if strings.HasPrefix(address, "[") {
			network = "tcp6"
		}
		require.ErrorIs(t, control(network, address, nil), errPrivate, address)
	}
	require.NoError(t, control("tcp4", "9.9.9.9:443", nil))
	require.ErrorIs(t, control("udp4", "9.9.9.9:443", nil), errPrivate)
}

func TestHost(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://Receiver.example/a":   "receiver.example:443",
		"http://receiver.example/b?c":  "receiver.example:80",
		"https://receiver.example:444": "receiver.example:444",
		"https://[::1]/":               "[::1]:443",
	} {
		require.Equal(t, want, Host(address), address)
	}
}
