package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPreferredWait(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		prefer []string
		want   time.Duration
		ok     bool
	}{
		{nil, 0, false},
		{[]string{""}, 0, false},
		{[]string{"wait=10"}, 10 * time.Second, true},
		{[]string{"wait"}, maxWait, true},
		{[]string{"wait="}, maxWait, true},
		{[]string{`wait=""`}, maxWait, true},
		{[]string{`wait="7"`}, 7 * time.Second, true},
		{[]string{" Wait = 7 "}, 7 * time.Second, true},
		{[]string{"wait=0"}, 0, true},
		{[]string{"wait=60"}, maxWait, true},
		{[]string{"wait=61"}, maxWait, true},
		{[]string{"wait=99999999999999999999"}, maxWait, true},
		{[]string{"wait=10;foo=bar"}, 10 * time.Second, true},
		{[]string{"respond-async, wait=10"}, 10 * time.Second, true},
		{[]string{"respond-async", "wait=10"}, 10 * time.Second, true},
		{[]string{"wait=10, wait=20"}, 10 * time.Second, true},
		{[]string{`foo="a, wait=5"`}, 0, false},
		{[]string{`foo="a\", wait=5", wait=6`}, 6 * time.Second, true},
		{[]string{`foo="a`}, 0, false},
		{[]string{"wait=ten"}, 0, false},
		{[]string{"wait=-1"}, 0, false},
		{[]string{"wait=+1"}, 0, false},
		{[]string{"wait=1.5"}, 0, false},
		{[]string{"waiting=5"}, 0, false},
	} {
		h := http.Header{"Prefer": tt.prefer}
		wait, ok := preferredWait(h)
		require.Equal(t, tt.ok, ok, tt.prefer)
		require.Equal(t, tt.want, wait, tt.prefer)
	}
}
