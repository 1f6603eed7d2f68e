package events

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/app"
	"onejob/client"
	"onejob/config"
)

const configuration = `
drain: 1s
providers: {inkjet: {type: simulated, timeout: 30s, deadline: 60s}}
routes: {print: {providers: [inkjet]}}
`

// world is a server with one job whose printer is silent, and a client of it.
type world struct {
	t       *testing.T
	ctx     context.Context
	client  *client.Client
	gateway *gateway
	job     string
	seen    []client.Event // by the listener, in its order
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cfg, err := config.Parse("events.yaml", []byte(configuration), nil, config.WithAddr("127.0.0.1:0"))
	require.NoError(t, err)
	process := app.New(cfg, app.WithAPI(), app.WithWorker(), app.WithEmbeddedRedis(), app.WithDevKeys())
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	require.NoError(t, process.Start(ctx))
	t.Cleanup(func() { require.NoError(t, process.Close()) })
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := client.New("http://"+process.Addr(), "dev-key", client.WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	job, err := c.Submit(ctx, client.Request{Route: "print", Input: map[string]any{
		"simulate": map[string]any{"inkjet": map[string]string{"outcome": "hang"}},
	}})
	require.NoError(t, err)
	return &world{t: t, ctx: ctx, client: c, gateway: newGateway(t, process.Addr(), job.ID), job: job.ID}
}

// until takes reports to the first that is meant, and returns it.
func (w *world) until(what string, meant func(report) bool) report {
	w.t.Helper()
	for {
		select {
		case said := <-w.gateway.reports:
			if said.Kind == "message" {
				var event client.Event
				require.NoError(w.t, json.Unmarshal([]byte(said.Data), &event), said.Data)
				require.Equal(w.t, event.ID, said.ID, "the id it would resume at")
				w.seen = append(w.seen, event)
			}
			if meant(said) {
				return said
			}
		case <-w.ctx.Done():
			require.FailNow(w.t, "never came: "+what, "seen %v, connections %q", w.seen, w.gateway.resumed())
		}
	}
}

func (w *world) verb(verb string) {
	w.t.Helper()
	w.until(verb, func(report) bool { return len(w.seen) > 0 && w.seen[len(w.seen)-1].Verb == verb })
}

func kind(k string) func(report) bool { return func(r report) bool { return r.Kind == k } }

// TestEventSource: events come live; after a cut the client resumes by itself where
// it was; at the end it is told so, and does not come again. Meanwhile Prefer: wait
// holds a call until the job has ended.
func TestEventSource(t *testing.T) {
	t.Parallel()
	for _, l := range listeners {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l.start(t, w.gateway, w.job)
			w.until("a connection", kind("open"))
			w.verb("claim")
			at := w.seen[len(w.seen)-1].ID

			w.gateway.cut()
			w.until("another connection", kind("open"))
			require.Equal(t, at, w.gateway.resumed()[1], "it resumes after the last event it had")
			_, err := w.client.Cancel(w.ctx, w.job, client.Decision{Reason: "enough — schön"})
			require.NoError(t, err)
			began := time.Now()

			// The three come in an order of their own.
			var waited report
			left := map[string]bool{"end": true, "waited": true, "closed": true}
			w.until("the end", func(r report) bool {
				if r.Kind == "waited" {
					waited = r
				}
				delete(left, r.Kind)
				return len(left) == 0
			})
			require.Equal(t, "cancelled", waited.State)
			require.Equal(t, "wait=45", waited.Applied)
			require.Less(t, time.Since(began), 30*time.Second)
			require.Len(t, w.gateway.resumed(), 3, "once more after the end, to be told that there is no more")

			var trail []client.Event
			for event, err := range w.client.Trail(w.ctx, w.job) {
				require.NoError(t, err)
				trail = append(trail, event)
			}
			require.Equal(t, trail, w.seen, "each event once, in order")
		})
	}
}
