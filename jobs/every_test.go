package jobs_test

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

// TestEverySequence_ScriptsDoWhatTheTableSays goes through every sequence of commands
// of a given length that follow a submission, and wants the scripts to do what the
// model of design §2's table does: answers, fields, indexes, due entries, lines of the
// trail, times to live. Two workers with a token each, the sweeper, a look-up, a
// person, a ticket and the caller send them, about two attempts; before each, any of
// the times that are ahead (a lease, a deadline, the end of a back-off or of
// start_within) may have passed.
//
// There are far more sequences than could be sent, so it goes through the states they
// lead to instead, each once, and sends every command in each. That covers them all:
//
//   - Two sequences that leave records with one canonical form (see canonical) are
//     told apart by no command that follows. What the form leaves out is either
//     written and never read (the trail, counters, tickets and deliveries, when
//     something was); or read only for whether it is there, or has passed; or the
//     memory of operation ids, which says what to answer to a command that is sent
//     again, before anything else is looked at, and nothing to another command.
//   - So every step of every sequence is a pair of a state and a command that is
//     tried here: the record of that state is put into Redis, the command is sent to
//     the script, and all that it leaves is compared with what the model has. By
//     induction over the length, model and script agree after every sequence.
//   - A command that changes something is sent once more at once, and every one that
//     was sent on the way to a state is sent again there: a lost reply, found out
//     about early or late.
//
// On redis-server the verbs run as functions, and what a function leaves in its variables
// is no state: begin() sets all of it (TestLibrary_State in package lua). On miniredis they
// run as scripts.
//
// What the form leaves out is not taken on trust altogether: of the ways of one length
// that lead to a state, the one whose record is used is drawn anew in each run.
//
// ONEJOB_DEPTH says how long the sequences are, 4 by default; `make exhaustive` has 7.
// On miniredis, whose Lua takes ten times as long, they are two shorter.
func TestEverySequence_ScriptsDoWhatTheTableSays(t *testing.T) {
	t.Parallel()
	depth := sequenceLength(t)
	for _, p := range everyPlan {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			t.Run("redis", func(t *testing.T) {
				t.Parallel()
				searchAll(t, redistest.Real(t), p, depth)
			})
			t.Run("miniredis", func(t *testing.T) {
				t.Parallel()
				searchAll(t, redistest.Mini(t), p, depth-2)
			})
		})
	}
}

func sequenceLength(t *testing.T) int {
	t.Helper()
	given := os.Getenv("ONEJOB_DEPTH")
	if given == "" {
		return 4
	}
	depth, err := strconv.Atoi(given)
	require.NoError(t, err, "ONEJOB_DEPTH is how many commands long the sequences are")
	return depth
}

func searchAll(t *testing.T, rdb *redis.Client, p plan, depth int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	x := newSearch(t, newScripts(ctx, rdb, 100*hour, 1000*hour), p, depth)
	x.run()
	within, out := x.count()
	t.Logf("every sequence of up to %d commands: %.3g, and %.3g more that ended with a third attempt; "+
		"%d states, %d pairs of state and command compared, %d commands sent again", depth, within, out, len(x.places), x.edges, x.resent)
}
