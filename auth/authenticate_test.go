package auth

import (
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
)

func TestBearer(t *testing.T) {
	t.Parallel()
	tests := []struct{ header, token, problem string }{
		{"Bearer dev-key", "dev-key", ""},
		{"bearer dev-key", "dev-key", ""},
		{"BEARER   dev-key ", "dev-key", ""},
		{"", "", "no Authorization header"},
		{"Bearer", "", "not of the form"},
		{"Bearer ", "", "not of the form"},
		{"Basic ZGV2", "", "not of the form"},
		{"dev-key", "", "not of the form"},
		{"Bearerdev-key", "", "not of the form"},
	}
	for _, test := range tests {
		t.Run(test.header, func(t *testing.T) {
			t.Parallel()
			token, err := Bearer(test.header)
			require.Equal(t, test.token, token)
			if test.problem == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrUnauthorized)
			require.ErrorContains(t, err, test.problem)
		})
	}
}

func TestMalformedKeysNeverReachTheStore(t *testing.T) {
	t.Parallel()
	b := setup(t, newClient(t, "tcp", miniredis.RunT(t).Addr()))
	good := newSecret()
	last := "0"
	if strings.HasSuffix(good, "0") {
		last = "1"
	}
	for _, token := range []string{
		"", "oj_", "dev-key", "sk-123", good[:len(good)-1], good + "x", "x" + good,
		"ok_" + good[3:], good[:len(good)-1] + last, strings.ToUpper(good), strings.Repeat("x", 100000),
	} {
		_, err := b.Authenticate(t.Context(), token)
		require.ErrorIs(t, err, ErrUnauthorized)
		if token != "" {
			require.NotContains(t, err.Error(), token, "secrets are not repeated")
		}
	}
	require.Zero(t, b.trips.Load())
}

func TestUnknownKey(t *testing.T) {
	t.Parallel()
	b := setup(t, newClient(t, "tcp", miniredis.RunT(t).Addr()))
	secret := newSecret()
	for range 3 {
		_, err := b.Authenticate(t.Context(), secret)
		require.ErrorIs(t, err, ErrUnauthorized)
	}
	require.EqualValues(t, 1, b.trips.Load(), "the no is remembered, too")
	b.advance(CacheTTL)
	_, err := b.Authenticate(t.Context(), secret)
	require.ErrorIs(t, err, ErrUnauthorized)
	require.EqualValues(t, 2, b.trips.Load())
}

func TestDevKeys(t *testing.T) {
	t.Parallel()
	want := map[string]Identity{
		"dev-key":          {Owner: "dev", Role: Submit, KeyID: "fixed-dev"},
		"other-key":        {Owner: "other", Role: Submit, KeyID: "fixed-other"},
		"dev-operator-key": {Owner: "dev-operator", Role: Operator, KeyID: "fixed-dev-operator"},
	}
	b := setup(t, newClient(t, "tcp", miniredis.RunT(t).Addr()), DevKeys())
	off := b.other()
	for token, identity := range want {
		got, err := b.Authenticate(t.Context(), token)
		require.NoError(t, err)
		require.Equal(t, identity, got)
		_, err = off.Authenticate(t.Context(), token)
		require.ErrorIs(t, err, ErrUnauthorized, "off unless asked for")
	}
	anyKeys, err := b.Any(t.Context())
	require.NoError(t, err)
	require.False(t, anyKeys, "fixed keys are not keys of the store")
}

func TestRoles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		role                                        Role
		own, others, everyone, mayWrite, mayResolve bool
	}{
		{Submit, true, false, false, true, false},
		{Viewer, true, true, true, false, false},
		{Operator, true, true, true, true, true},
		{"", true, false, false, false, false},
	}
	for _, test := range tests {
		t.Run(string(test.role), func(t *testing.T) {
			t.Parallel()
			i := Identity{Owner: "acme", Role: test.role}
			require.Equal(t, test.own, i.MayRead("acme"))
			require.Equal(t, test.others, i.MayRead("Acme"))
			require.Equal(t, test.everyone, i.SeesEveryone())
			require.Equal(t, test.mayWrite, i.MayWrite())
			require.Equal(t, test.mayResolve, i.MayOperate())
		})
	}
}

func TestCheckAddr(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"127.0.0.1:8080", "127.9.9.9:0", "[::1]:80", "localhost:80", "LOCALHOST:80", "[::ffff:127.0.0.1]:80"} {
		require.NoError(t, CheckAddr(addr, true, false), addr)
	}
	for _, addr := range []string{":8080", "0.0.0.0:80", "[::]:80", "10.0.0.1:80", "example.com:80", "localhost.example.com:80", "127.0.0.1", ""} {
		require.ErrorContains(t, CheckAddr(addr, true, true), "ONEJOB_DEV_KEYS", addr)
		require.ErrorContains(t, CheckAddr(addr, false, false), "onejob keys create", addr)
		require.NoError(t, CheckAddr(addr, false, true), addr)
	}
}

func TestCheckOwner(t *testing.T) {
	t.Parallel()
	for _, owner := range []string{"a", "A-b_c.d:e/f@g", "!", "~", strings.Repeat("a", 128)} {
		require.NoError(t, CheckOwner(owner), owner)
	}
	for _, owner := range []string{"", " ", "a b", "a\t", "a\x00", "a\x7f", "é", "a\xff", strings.Repeat("a", 129)} {
		require.Error(t, CheckOwner(owner), owner)
	}
}
