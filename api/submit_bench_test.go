package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/api"
	"onejob/jobs"
)

// BenchmarkSubmit tells what a submission and a replay cost this package and package
// jobs, without the network and Redis.
func BenchmarkSubmit(b *testing.B) {
	rdb := redis.NewClient(&redis.Options{Addr: miniredis.RunT(b).Addr()})
	b.Cleanup(func() { _ = rdb.Close() })
	_, err := jobs.NewStore(rdb, jobs.Options{}).Submit(b.Context(), jobs.Submission{Owner: "dev", Key: "k0"})
	require.NoError(b, err) // and the script is there
	body := `{"route":"print","input":{"text":"` + strings.Repeat("x", 450) + `"}}`
	for _, key := range []string{"k1", "k1"} {
		scripts := &answered{UniversalClient: rdb}
		server := api.New(api.Config{Routes: testRoutes, Log: slog.New(slog.NewJSONHandler(nobody{}, nil))},
			jobs.NewStore(rdb, jobs.Options{Scripts: scripts}), asleep{}, keyring{})
		submit := func() {
			r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/v1/jobs", strings.NewReader(body))
			r.Header = http.Header{"Authorization": {"Bearer " + devKey}, "Content-Type": {"application/json"}, "Idempotency-Key": {key}}
			w := nobody{http.Header{}}
			server.ServeHTTP(w, r)
			require.NotEmpty(b, w.header["Location"])
		}
		submit() // as is answered from here on
		b.Run(scripts.word(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				submit()
			}
		})
	}
}

// answered answers every script as Redis has answered the first.
type answered struct {
	redis.UniversalClient
	first any
}

func (a *answered) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	if a.first == nil {
		cmd := a.UniversalClient.EvalSha(ctx, sha, keys, args...)
		a.first = cmd.Val()
		return cmd
	}
	cmd := redis.NewCmd(ctx)
	cmd.SetVal(a.first)
	return cmd
}

func (a *answered) FCall(ctx context.Context, function string, keys []string, args ...any) *redis.Cmd {
	if a.first == nil {
		return a.UniversalClient.FCall(ctx, function, keys, args...) // the store has a function for a script
	}
	cmd := redis.NewCmd(ctx)
	cmd.SetVal(a.first)
	return cmd
}

func (a *answered) word() string { return a.first.([]any)[0].(string) }

// nobody reads what is written.
type nobody struct{ header http.Header }

func (w nobody) Header() http.Header         { return w.header }
func (w nobody) Write(b []byte) (int, error) { return len(b), nil }
func (w nobody) WriteHeader(int)             {}

// asleep wakes nobody.
type asleep struct{}

func (asleep) Wake(context.Context, jobs.Wake) {}
