package jobs_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
	"onejob/lua"
	"onejob/redistest"
)

// damages are what a hand can do to the text that a record is.
var damages = map[string]func(small string) string{
	"a line at the end":                 func(small string) string { return small + "\n" },
	"half the job's line":               func(small string) string { return small[:40] },
	"half an attempt's line":            func(small string) string { return small[:strings.Index(small, "\n1\t")+8] },
	"empty":                             func(string) string { return "" },
	takenAway:                           func(string) string { return "" },
	"no number of attempts":             func(small string) string { return strings.Replace(small, "\t1\t1\t1\t", "\t1\t1\tone\t", 1) },
	"not a record at all":               func(string) string { return "running" },
	"the job's line is short":           func(small string) string { return strings.Replace(small, "\t\n1\t", "\n1\t", 1) },
	"more attempts than can be counted": func(small string) string { return strings.Replace(small, "\t1\t1\t1\t", "\t1\t1\t1e12\t", 1) },
	"an attempt that is no number":      func(small string) string { return strings.Replace(small, "\n1\t", "\nnan\t", 1) },
	"an attempt and no more":            func(small string) string { return small + "\n2" },
	"a return at the end":               func(small string) string { return small + "\r\n" },
}

// takenAway is the damage that leaves no such field at all.
const takenAway = "taken away"

// TestDamaged: a record that somebody has damaged by hand is an error to whoever wants
// something of it, said by fsck, and stops nothing else.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				b := setup(t, rdb)
				job := b.submit("k")
				prefix := prefixOf(job.ID)
				record := prefix + "job:" + job.ID
				small := rdb.HGet(b.ctx, record, "small").Val()
				require.NoError(t, rdb.HSet(b.ctx, record, "small", damage(small)).Err())
				if name == takenAway {
					require.NoError(t, rdb.HDel(b.ctx, record, "small").Err())
				}

				_, err := b.Claim(b.ctx, jobs.ClaimRequest{JobID: job.ID, Attempt: 1, Token: "t", Provider: "inkjet", Deadline: time.Minute})
				require.ErrorContains(t, err, "cannot be read")
				_, err = b.Get(b.ctx, job.ID)
				if err != nil { // a line too many hides nothing
					var refusal *jobs.Refusal
					require.ErrorAs(t, err, &refusal)
					require.Equal(t, jobs.CodeNotFound, refusal.Code)
				}
				found, err := b.Mend(b.ctx, job.ID, true)
				require.NoError(t, err)
				require.Equal(t, []string{"its field small cannot be read; nothing can mend that"}, found)
				require.Equal(t, damage(small), rdb.HGet(b.ctx, record, "small").Val(), "nothing was made of it")

				// Its neighbours in the partition: what is due is handed out, counts are
				// compared, and a store that went back in time is noticed.
				other := b.neighbour(prefix)
				require.NoError(t, rdb.ZAdd(b.ctx, prefix+"due", redis.Z{Score: 1, Member: "wake:" + job.ID + ":1"}, redis.Z{Score: 2, Member: "wake:" + other + ":1"}).Err())
				taken, err := lua.Take.Run(b.ctx, rdb, []string{prefix + "due"}, 10).Slice()
				require.NoError(t, err)
				require.Len(t, taken, 1)
				require.Equal(t, other, taken[0].([]any)[1])
				require.Positive(t, rdb.ZScore(b.ctx, prefix+"due", "wake:"+job.ID+":1").Val(), "its turn comes again")
				_, err = lua.Recount.Run(b.ctx, rdb, []string{prefix + "open"}, 0).Slice()
				require.NoError(t, err)
				keys := []string{prefix + "seq", prefix + "due", prefix + "seq"}
				rewound, err := lua.Rewind.Run(b.ctx, rdb, keys, "", "clockwork", 0, 0, 1000, 1<<32, "server", 0).StringSlice()
				require.NoError(t, err)
				require.Equal(t, []string{"rewound", "1", "1"}, rewound[:3])
				require.Equal(t, jobs.Unknown, b.get(other).State)
			})
		})
	}
}

// neighbour is another job of a partition.
func (b *bundle) neighbour(prefix string) string {
	b.t.Helper()
	for i := range 10_000 {
		key := "neighbour" + strings.Repeat("x", i%100) + time.Duration(i).String()
		if id := jobs.NewID("dev", key); prefixOf(id) == prefix {
			return b.submit(key).ID
		}
	}
	require.FailNow(b.t, "no key is of partition "+prefix)
	return ""
}

// TestStore_LongValues: what a provider says at length lies beside what every verb
// reads, on both stores.
func TestStore_LongValues(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		job := b.submit("k")
		long := strings.Repeat("x", 4<<20)
		c := b.claim(job.ID, 1)
		require.NoError(t, b.Accept(b.ctx, c, long, "worker"))
		usage := json.RawMessage(`{"said":"` + long + `"}`)
		_, err := b.Finalize(b.ctx, ending(c), json.RawMessage(`"`+long+`"`), usage)
		require.NoError(t, err)
		small := rdb.HStrLen(b.ctx, prefixOf(job.ID)+"job:"+job.ID, "small").Val()
		require.Less(t, small, int64(1000))
		require.NoError(t, b.Note(b.ctx, job.ID, 1, "looked", long))
		done := b.get(job.ID)
		require.Equal(t, string(usage), string(done.Attempts[0].Usage))
		require.Len(t, done.Attempts[0].Handle, len(long))
	})
}

// TestEvents_MoreThanAreAskedAtATime: a long trail reads whole, and in parts.
func TestEvents_MoreThanAreAskedAtATime(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb)
		job := b.submit("k")
		for i := range 99 {
			require.NoError(t, b.Note(b.ctx, job.ID, 1, "note", time.Duration(i).String()))
		}
		all, err := b.Events(b.ctx, job.ID, "", 1000)
		require.NoError(t, err)
		require.Len(t, all, 100)
		for _, c := range []struct {
			after string
			limit int
			want  []jobs.Event
		}{
			{"", 32, all[:32]},
			{"", 33, all[:33]},
			{"31", 64, all[31:95]},
			{"95", 32, all[95:]},
			{"100", 10, []jobs.Event{}},
			{"2000", 10, []jobs.Event{}},
			{"", 0, []jobs.Event{}},
		} {
			got, err := b.Events(b.ctx, job.ID, c.after, c.limit)
			require.NoError(t, err)
			require.Equal(t, c.want, got, "%+v", c)
		}
	})
}
