package tasks_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/redistest"
	"onejob/tasks"
)

// waitingOwner is one with a line, as the model of refill.lua has it.
type waitingOwner struct {
	name  string
	turn  float64
	share int
	line  []string
}

// refilled is what the rule says, one turn after the other: the owner with the lowest turn
// is served, and moves on by one over his share; who has nobody left is gone.
func refilled(owners []*waitingOwner, room int) (taken []string, left []*waitingOwner, turn float64) {
	for range room {
		owners = slices.DeleteFunc(owners, func(o *waitingOwner) bool { return len(o.line) == 0 })
		if len(owners) == 0 {
			break
		}
		// No two have the same turn: they begin at random.
		first := slices.MinFunc(owners, func(a, b *waitingOwner) int { return cmp.Compare(a.turn, b.turn) })
		taken = append(taken, first.name, first.line[0])
		turn = first.turn
		first.line = first.line[1:]
		first.turn += 1 / float64(first.share)
	}
	return taken, slices.DeleteFunc(owners, func(o *waitingOwner) bool { return len(o.line) == 0 }), turn
}

// TestRefill_TakesTurns: random lines are emptied in the order of the rule, and what is
// left is written back as it is.
func TestRefill_TakesTurns(t *testing.T) {
	t.Parallel()
	script := tasks.RefillScript
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, seed := t.Context(), uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		for round := range 60 {
			prefix := fmt.Sprintf("oj:{r%d}:", round)
			keys := []string{prefix + "pending", prefix + "owners", prefix + "turn"}
			pending, window := random.IntN(6), random.IntN(40)
			arguments := []any{window, prefix}
			for range pending {
				require.NoError(t, rdb.LPush(ctx, keys[0], "task").Err())
			}
			owners := randomOwners(random)
			for _, o := range owners {
				require.NoError(t, rdb.ZAdd(ctx, keys[1], redis.Z{Score: o.turn, Member: o.name}).Err())
				for at, attempt := range o.line {
					require.NoError(t, rdb.ZAdd(ctx, prefix+o.name, redis.Z{Score: float64(at), Member: attempt}).Err())
				}
				if o.share != 1 {
					arguments = append(arguments, o.name, o.share)
				}
			}
			said, err := script.Run(ctx, rdb, keys, arguments...).Slice()
			require.NoError(t, err)

			all := len(owners)
			taken, left, turn := refilled(owners, max(0, window-pending))
			var got []string
			for _, v := range said[2:] {
				got = append(got, v.(string))
			}
			require.Equal(t, taken, got, "round %d of %d owners", round, all)
			require.EqualValues(t, pending, said[0])
			requireLines(ctx, t, rdb, prefix, left, said[1].(int64))
			if len(taken) > 0 && said[1].(int64) > 0 {
				kept, err := rdb.Get(ctx, keys[2]).Float64()
				require.NoError(t, err)
				require.InDelta(t, turn, kept, 1e-9)
			}
		}
	})
}

func randomOwners(random *rand.Rand) []*waitingOwner {
	owners := make([]*waitingOwner, 1+random.IntN(12))
	for i := range owners {
		owners[i] = &waitingOwner{name: fmt.Sprintf("o%02d", i), turn: 100 + 3*random.Float64(), share: 1 + random.IntN(3)*random.IntN(2)}
		for n := range random.IntN(12) { // none: a line that was lost
			owners[i].line = append(owners[i].line, fmt.Sprintf("%s-a%02d", owners[i].name, n))
		}
	}
	return owners
}

// requireLines compares what is left, but for lost lines that no turn has come to.
func requireLines(ctx context.Context, t *testing.T, rdb *redis.Client, prefix string, left []*waitingOwner, count int64) {
	t.Helper()
	turns, err := rdb.ZRangeWithScores(ctx, prefix+"owners", 0, -1).Result()
	require.NoError(t, err)
	require.Len(t, turns, int(count))
	kept := map[string]float64{}
	for _, z := range turns {
		kept[z.Member.(string)] = z.Score
	}
	for _, o := range left {
		require.InDelta(t, o.turn, kept[o.name], 1e-9, o.name)
		line, err := rdb.ZRange(ctx, prefix+o.name, 0, -1).Result()
		require.NoError(t, err)
		require.Equal(t, o.line, line, o.name)
		delete(kept, o.name)
	}
	for name := range kept {
		n, err := rdb.Exists(ctx, prefix+name).Result()
		require.NoError(t, err)
		require.Zero(t, n, "%s is not to be there", name)
	}
}

// TestRefill_EqualTurns: of those whose turn is the same, as that of all who come at the
// same time is, nobody is served twice before all were once.
func TestRefill_EqualTurns(t *testing.T) {
	t.Parallel()
	script := tasks.RefillScript
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		const owners, room, prefix = 7, 24, "oj:{r}:"
		for i := range owners {
			name := fmt.Sprint("o", i)
			require.NoError(t, rdb.ZAdd(t.Context(), prefix+"owners", redis.Z{Score: 3, Member: name}).Err())
			for n := range room {
				require.NoError(t, rdb.ZAdd(t.Context(), prefix+name, redis.Z{Score: float64(n), Member: fmt.Sprint(name, "-a", n)}).Err())
			}
		}
		said, err := script.Run(t.Context(), rdb, []string{prefix + "pending", prefix + "owners", prefix + "turn"}, room, prefix).Slice()
		require.NoError(t, err)
		require.Len(t, said, 2+2*room)
		served := map[string]int{}
		for i := 2; i < len(said); i += 2 {
			served[said[i].(string)]++
			least, most := room, 0
			for i := range owners {
				n := served[fmt.Sprint("o", i)]
				least, most = min(least, n), max(most, n)
			}
			require.LessOrEqual(t, most-least, 1, "after %d: %v", i/2, served)
		}
	})
}

// TestPump_AsksInTime: a queue is filled when a quarter of its window is used up, and
// when half is while nothing is known to wait.
func TestPump_AsksInTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		window int
		lines  bool
		want   int // deliveries until it is to be filled
	}{
		"lines": {64, true, 16}, "none known": {64, false, 32}, "few calls": {4, true, 1}, "few calls, none known": {4, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue := tasks.NewQueue(redistest.Mini(t), nil, tasks.Fairly(func(string) int { return c.window }, nil))
			queue.Learn("p", c.lines)
			pump := tasks.NewPump(queue, []string{"p"}, noLog)
			handler := pump.Around("p", asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return nil }))
			for range 3 {
				for n := range c.want {
					require.False(t, pump.Wanted("p"), "after %d", n)
					require.NoError(t, handler.ProcessTask(t.Context(), nil))
				}
				require.True(t, pump.Wanted("p"))
			}
		})
	}
}
