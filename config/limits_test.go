package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLimitsFor: an owner's own limits go before everybody's, one by one; a burst
// goes with the rate it was given for.
func TestLimitsFor(t *testing.T) {
	t.Parallel()
	all := OwnerLimits{RequestsPerSecond: 50, Burst: 80, OpenJobs: 1000}
	for name, c := range map[string]struct{ own, want OwnerLimits }{
		"like everybody":   {OwnerLimits{}, OwnerLimits{RequestsPerSecond: 50, Burst: 80, OpenJobs: 1000, Share: 1}},
		"more jobs":        {OwnerLimits{OpenJobs: 5000}, OwnerLimits{RequestsPerSecond: 50, Burst: 80, OpenJobs: 5000, Share: 1}},
		"more requests":    {OwnerLimits{RequestsPerSecond: 500}, OwnerLimits{RequestsPerSecond: 500, Burst: 1000, OpenJobs: 1000, Share: 1}},
		"a burst":          {OwnerLimits{Burst: 7}, OwnerLimits{RequestsPerSecond: 50, Burst: 7, OpenJobs: 1000, Share: 1}},
		"a share":          {OwnerLimits{Share: 3}, OwnerLimits{RequestsPerSecond: 50, Burst: 80, OpenJobs: 1000, Share: 3}},
		"all of the above": {OwnerLimits{1, 2, 3, 4}, OwnerLimits{1, 2, 3, 4}},
	} {
		limits := Limits{OwnerLimits: all, Owners: map[string]OwnerLimits{"acme": c.own}}
		require.Equal(t, c.want, limits.For("acme"), name)
	}
	require.Equal(t, OwnerLimits{RequestsPerSecond: 5, Burst: 10, Share: 1}, Limits{OwnerLimits: OwnerLimits{RequestsPerSecond: 5}}.For("x"))
	require.Equal(t, OwnerLimits{Share: 1}, Limits{}.For("x"), "none by default")
}
