package config

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Limits are what each owner may ask for (docs/limits.md). Nothing is limited that
// is not written down; a share is always fair.
type Limits struct {
	// OwnerLimits are those of every owner.
	OwnerLimits

	// Owners are those of single owners, by name; what is left out there is as for
	// everybody. Key limits.owners.
	Owners map[string]OwnerLimits
}

// OwnerLimits are the limits of an owner. 0 is none, or as for everybody.
type OwnerLimits struct {
	// RequestsPerSecond is how many authenticated requests he may make, in all API
	// processes together. Key requests_per_second, a number.
	RequestsPerSecond int

	// Burst is how many he may make at once when he has been quiet. Key burst, a
	// number. Defaults to twice RequestsPerSecond.
	Burst int

	// OpenJobs is how many of his jobs may not have ended yet. Key open_jobs, a
	// number.
	OpenJobs int

	// Share is how many calls he gets for one of another's, where both have jobs
	// waiting for the same provider. Key share, a number. Defaults to 1.
	Share int
}

// maxLimit bounds limits: far beyond what one Redis does.
const maxLimit = 1_000_000_000

// maxShare keeps the turns of shares apart.
const maxShare = 1000

// For is what an owner may ask for.
func (l Limits) For(owner string) OwnerLimits {
	own, all := l.Owners[owner], l.OwnerLimits
	limits := OwnerLimits{
		RequestsPerSecond: cmp.Or(own.RequestsPerSecond, all.RequestsPerSecond),
		OpenJobs:          cmp.Or(own.OpenJobs, all.OpenJobs),
		Share:             cmp.Or(own.Share, all.Share, 1),
	}
	limits.Burst = cmp.Or(own.Burst, twice(own.RequestsPerSecond), all.Burst, twice(all.RequestsPerSecond))
	return limits
}

func twice(n int) int { return 2 * n }

func (r reader) limits(to *Limits) field {
	return func(path string, n *yaml.Node) {
		keys := r.ownerLimits(&to.OwnerLimits)
		delete(keys, "share") // of everybody it would be no share
		keys["owners"] = func(path string, n *yaml.Node) {
			to.Owners = map[string]OwnerLimits{}
			r.each(path, n, func(owner, at string, v *yaml.Node) {
				var own OwnerLimits
				r.mapping(at, v, r.ownerLimits(&own))
				to.Owners[owner] = own
			})
		}
		r.mapping(path, n, keys)
	}
}

func (r reader) ownerLimits(to *OwnerLimits) map[string]field {
	return map[string]field{
		"requests_per_second": r.number(&to.RequestsPerSecond, 1, maxLimit),
		"burst":               r.number(&to.Burst, 1, maxLimit),
		"open_jobs":           r.number(&to.OpenJobs, 1, maxLimit),
		"share":               r.number(&to.Share, 1, maxShare),
	}
}

func (c checker) limits(l Limits) {
	c.ownerLimits("limits", l.OwnerLimits, OwnerLimits{})
	for _, owner := range slices.Sorted(maps.Keys(l.Owners)) {
		at := child("limits.owners", owner)
		if !goodOwner(owner) {
			c.add(at, "not a name for an owner", "want 1 to 128 visible ASCII characters without blanks, as in onejob keys create --owner")
		}
		c.ownerLimits(at, l.Owners[owner], l.OwnerLimits)
	}
}

func (c checker) ownerLimits(at string, l, all OwnerLimits) {
	for _, limit := range []struct {
		key         string
		value, most int
	}{
		{"requests_per_second", l.RequestsPerSecond, maxLimit},
		{"burst", l.Burst, maxLimit},
		{"open_jobs", l.OpenJobs, maxLimit},
		{"share", l.Share, maxShare},
	} {
		if limit.value < 0 || limit.value > limit.most {
			c.add(child(at, limit.key), strconv.Itoa(limit.value)+" is out of range", numberRange(1, limit.most))
		}
	}
	if l.Burst > 0 && l.RequestsPerSecond == 0 && all.RequestsPerSecond == 0 {
		c.add(child(at, "burst"), "there is no limit it is a burst of", "give requests_per_second as well, or leave it out")
	}
}

func goodOwner(name string) bool {
	if name == "" || len(name) > 128 {
		return false
	}
	for _, r := range name {
		if r <= ' ' || r > '~' {
			return false
		}
	}
	return true
}
