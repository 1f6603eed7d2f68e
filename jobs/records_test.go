package jobs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

var update = flag.Bool("update", false, "write the stored records of testdata/records anew")

// epoch is when the fixtures were written, by their own clock.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fixture is one job as it is stored, and as it reads.
type fixture struct {
	Schema int               `json:"schema"`
	ID     string            `json:"id"`
	Now    int64             `json:"now"` // the store's clock, ms
	Keys   map[string]stored `json:"keys"`
	// Reads is the job as Get gives it, in the API's JSON: what the fields mean.
	Reads json.RawMessage `json:"reads"`
}

// stored is what one key holds.
type stored struct {
	String string            `json:"string,omitempty"`
	Hash   map[string]string `json:"hash,omitempty"`
	Set    map[string]int64  `json:"set,omitempty"` // a sorted one
	TTL    int64             `json:"ttl_ms,omitempty"`
}

func fixturePath(schema int, name string) string {
	return filepath.Join("testdata", "records", "v"+strconv.Itoa(schema), name+".json")
}

// TestRecords_AreStoredAsTheFixturesSay: what is written today is, byte for byte, what
// was written when the schema was made: whoever renames a stored field, or gives one
// another meaning, has to make a new schema (docs/deploy.md, "Upgrading"). An older
// schema is written on by newer releases, and must stay what it was.
func TestRecords_AreStoredAsTheFixturesSay(t *testing.T) {
	t.Parallel()
	for schema := 1; schema <= jobs.Schema; schema++ {
		for _, name := range slices.Sorted(maps.Keys(recipes)) {
			t.Run(fmt.Sprintf("v%d/%s", schema, name), func(t *testing.T) {
				t.Parallel()
				path, got := fixturePath(schema, name), written(t, schema, name)
				if *update {
					require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
					require.NoError(t, os.WriteFile(path, got, 0o600))
					return
				}
				want, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, string(want), string(got),
					"a stored record has changed: make a new schema of it, or, where nothing was ever stored so, run with -update")
			})
		}
		if !*update {
			files, err := filepath.Glob(fixturePath(schema, "*"))
			require.NoError(t, err)
			require.Len(t, files, len(recipes), "a fixture without a recipe, or the other way round")
		}
	}
}

// written has a recipe done by a clock of its own and gives the fixture of it.
func written(t *testing.T, schema int, name string) []byte {
	t.Helper()
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	now := epoch
	server.SetTime(now)
	s := cook(t, rdb, schema, name, func() {
		now = now.Add(time.Second)
		server.SetTime(now)
	})
	f := fixture{Schema: schema, ID: s.id, Now: now.UnixMilli(), Keys: dump(t, rdb)}
	var err error
	f.Reads, err = json.Marshal(s.get(s.id))
	require.NoError(t, err)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(f))
	return out.Bytes()
}

// cook has a recipe done.
func cook(t *testing.T, rdb *redis.Client, schema int, name string, tick func()) *scribe {
	t.Helper()
	s := &scribe{bundle: setup(t, rdb), tick: tick, name: name, id: recordID(name)}
	s.WriteSchema(schema)
	recipes[name](s)
	return s
}

// madeOp is the id of an operation that a caller makes up by himself.
var madeOp = regexp.MustCompile(`(?m)^o=[A-Z2-7]{16}=`)

// dump is all that a store holds.
func dump(t *testing.T, rdb *redis.Client) map[string]stored {
	t.Helper()
	ctx := context.Background()
	names, err := rdb.Keys(ctx, "*").Result()
	require.NoError(t, err)
	keys := map[string]stored{}
	for _, name := range names {
		kind, err := rdb.Type(ctx, name).Result()
		require.NoError(t, err)
		var s stored
		switch kind {
		case "string":
			s.String, err = rdb.Get(ctx, name).Result()
		case "hash":
			s.Hash, err = rdb.HGetAll(ctx, name).Result()
			for field, value := range s.Hash {
				s.Hash[field] = madeOp.ReplaceAllString(value, "o=OP=")
			}
		case "zset":
			var members []redis.Z
			members, err = rdb.ZRangeWithScores(ctx, name, 0, -1).Result()
			s.Set = map[string]int64{}
			for _, z := range members {
				s.Set[z.Member.(string)] = int64(z.Score)
			}
		default:
			err = fmt.Errorf("%s is a %s, which no record is made of", name, kind)
		}
		require.NoError(t, err)
		ttl, err := rdb.PTTL(ctx, name).Result()
		require.NoError(t, err)
		s.TTL = max(0, ttl.Milliseconds())
		keys[name] = s
	}
	return keys
}

// readFixture reads one.
func readFixture(t *testing.T, schema int, name string) fixture {
	t.Helper()
	b, err := os.ReadFile(fixturePath(schema, name))
	require.NoError(t, err)
	var f fixture
	require.NoError(t, json.Unmarshal(b, &f))
	return f
}

// moment is a time as records hold it.
var moment = regexp.MustCompile(`\b[0-9]{13}\b`)

// load puts a fixture into a store as if its clock had shown what the store's shows.
func (f fixture) load(t *testing.T, rdb *redis.Client) {
	t.Helper()
	ctx := context.Background()
	clock, err := rdb.Time(ctx).Result()
	require.NoError(t, err)
	by := clock.UnixMilli() - f.Now
	shift := func(text string) string {
		return moment.ReplaceAllStringFunc(text, func(digits string) string {
			at, _ := strconv.ParseInt(digits, 10, 64)
			return strconv.FormatInt(at+by, 10)
		})
	}
	for name, s := range f.Keys {
		if s.String != "" {
			require.NoError(t, rdb.Set(ctx, name, s.String, 0).Err())
		}
		for field, value := range s.Hash {
			require.NoError(t, rdb.HSet(ctx, name, field, shift(value)).Err())
		}
		for member, score := range s.Set {
			require.NoError(t, rdb.ZAdd(ctx, name, redis.Z{Score: float64(score + by), Member: member}).Err())
		}
		if s.TTL > 0 {
			require.NoError(t, rdb.PExpire(ctx, name, time.Duration(s.TTL)*time.Millisecond).Err())
		}
	}
}

// newer tells whether an error is the answer to a record of a newer schema.
func newer(err error) bool {
	_, ok := errors.AsType[*jobs.NewerSchema](err)
	return ok
}
