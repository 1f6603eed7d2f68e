package jobs_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// clone is a copy of the record that shares nothing with it.
func (r *record) clone() *record {
	c := *r
	c.hooks, c.ops, c.trail = slices.Clone(r.hooks), slices.Clone(r.ops), slices.Clone(r.trail)
	c.rest, c.due = maps.Clone(r.rest), maps.Clone(r.due)
	c.attempts = make([]*attempt, len(r.attempts))
	for i, a := range r.attempts {
		other := *a
		other.rest = maps.Clone(a.rest)
		c.attempts[i] = &other
	}
	return &c
}

// A time is ahead, has passed, or is not there; how far makes no difference.
func when(at, now int64) string {
	switch {
	case at == 0:
		return "-"
	case at > now:
		return "ahead"
	}
	return "passed"
}

// told are the fields that no rule reads but for whether they are there, and that are
// written together with what is told apart: their values make no difference.
var told = []string{
	"error", "error_attempt", "error_code", "error_message", "error_provider", "late_at", "late_bytes", "late_reason",
	"late_sha256", "looked_at", "lookup_at", "result",
}

// removed are the kinds of due entries that a verb takes away.
var removed = []string{"wake", "lease", "lookup", "settle", "race", "start", "expire"}

// canonical is all of a record that can make a difference to what follows: the
// states that TestEverySequence tells apart.
func (r *record) canonical(now int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s v%d w%d", r.state, r.version, r.winner)
	writeRest(&b, r.state, r.rest, now)
	for i, a := range r.attempts {
		fmt.Fprintf(&b, "\n%d %s %s f%d %s", i+1, a.state, a.provider, a.fence, a.token)
		switch a.state {
		case "starting":
			fmt.Fprintf(&b, " not before %s", when(a.notBefore, now))
		case "running": // nobody looks at the times of another
			fmt.Fprintf(&b, " lease %s deadline %s", when(a.lease, now), when(a.deadline, now))
		}
		writeRest(&b, a.state, a.rest, now)
	}
	for _, name := range slices.Sorted(maps.Keys(r.due)) {
		part := strings.SplitN(name, ":", 3)
		if slices.Contains(removed, part[0]) {
			fmt.Fprintf(&b, "\n%s %s", part[0], part[2])
		}
	}
	return b.String()
}

func writeRest(b *strings.Builder, state string, rest map[string]string, now int64) {
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		value := rest[name]
		switch {
		case name == "start_by":
			value = when(atoi(value), now)
		case slices.Contains(told, name), name == "reason" && state != "failed": // see lua/fail.lua
			value = "there"
		}
		fmt.Fprintf(b, " %s=%s", name, value)
	}
}

// passings lists the times that can pass next: the name of the field, and how the
// model's own changes.
func (r *record) passings(now int64) map[string]func(*record) {
	all := map[string]func(*record){}
	for i, a := range r.attempts {
		field := func(name string) string { return fmt.Sprintf("%d.%s", i+1, name) }
		if a.state == "starting" && a.notBefore > now {
			all[field("not_before")] = func(r *record) { r.attempts[i].notBefore = 1 }
		}
		if a.state == "running" && a.lease > now {
			all[field("lease")] = func(r *record) { r.attempts[i].lease = 1 }
		}
		if a.state == "running" && a.deadline > now {
			all[field("deadline")] = func(r *record) { r.attempts[i].deadline = 1 }
		}
	}
	if by, given := r.rest["start_by"]; given && atoi(by) > now && !isEnded(r.state) {
		all["start_by"] = func(r *record) { r.rest["start_by"] = "1" }
	}
	return all
}
