package jobs_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/lua"
	"onejob/redistest"
)

// TestGuards_NothingIsDueOfAClosedAttempt: whatever state it leaves, nobody is reminded
// of it any more; but a call that may still run is to be cancelled at its provider.
func TestGuards_NothingIsDueOfAClosedAttempt(t *testing.T) {
	t.Parallel()
	claim := command{verb: "claim", attempt: 1, actor: "worker", token: "mine", provider: "inkjet", deadline: hour, lease: hour}
	suspect := command{
		verb: "suspect", op: "S", attempt: 1, actor: "worker", token: "mine", reason: "timeout",
		lookupIn: hour, settleIn: hour, raceIn: hour,
	}
	cancel := command{verb: "cancel", op: "C", actor: "dev"}
	for name, row := range map[string]struct {
		before  []command
		rewound bool
		due     []string // of the attempt, before it is closed
	}{
		"starting":               {nil, false, []string{"start", "wake"}},
		"running":                {[]command{claim}, false, []string{"lease"}},
		"unknown":                {[]command{claim, suspect}, false, []string{"lookup", "race", "settle"}},
		"starting, then rewound": {nil, true, []string{"lookup"}},
		"running, then rewound":  {[]command{claim}, true, []string{"lookup"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				s := newScripts(t.Context(), rdb, hour, 10*hour)
				s.startWithin = hour
				g := submitted(t, s)
				kinds := func() (of []string) {
					members, err := rdb.ZRange(t.Context(), s.keys()[1], 0, -1).Result()
					require.NoError(t, err)
					for _, member := range members {
						if kind, _, _ := strings.Cut(member, ":"); kind != "expire" {
							of = append(of, kind)
						}
					}
					return of
				}
				for _, c := range row.before {
					_, err := g.scripts.send(c)
					require.NoError(t, err)
				}
				if row.rewound {
					answer, err := lua.Rewind.Run(t.Context(), rdb, s.keys(), "", "clockwork", 0, 0, 1000, 1<<32, "server", 0).StringSlice()
					require.NoError(t, err)
					require.Equal(t, "rewound", answer[0])
				}
				require.ElementsMatch(t, row.due, kinds())
				answer, err := g.scripts.send(cancel)
				require.NoError(t, err)
				require.Equal(t, "cancelled", answer[0])
				if name == "starting" {
					require.Empty(t, kinds())
				} else {
					require.Equal(t, []string{"cancel"}, kinds())
				}
			})
		})
	}
}

// TestGuards_ALeaseThatWasLeft of an attempt that nobody runs is forgotten by whoever
// is reminded of it: it would come up again for as long as there is the job.
func TestGuards_ALeaseThatWasLeft(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		h := makeJob(t, rdb, nil, fields{"state": "cancelled"}, fields{"state": "running", "token": "its"})
		due := h.keys()[1]
		require.NoError(t, rdb.ZAdd(t.Context(), due, redis.Z{Score: 1, Member: "lease:" + h.id + ":1"}).Err())
		require.Equal(t, "not_running cancelled", h.say(command{verb: "suspect", op: "S"}))
		require.Zero(t, rdb.ZCard(t.Context(), due).Val())
	})
}
