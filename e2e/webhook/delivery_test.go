package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"onejob/app"
	"onejob/auth"
	"onejob/config"
	"onejob/jobs"
	"onejob/jobs/recordtest"
	"onejob/redistest"
	"onejob/webhooks"
)

const configuration = `
drain: 5s
providers: {inkjet: {type: simulated, timeout: 300ms, deadline: 20s}}
routes: {print: {providers: [inkjet]}}
`

// shop is a process of onejob over a real Redis.
type shop struct {
	t       *testing.T
	ctx     context.Context
	rdb     *redis.Client
	process *app.App
	base    string
	http    *http.Client
}

func open(t *testing.T) *shop {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	rdb := redistest.Real(t)
	s := &shop{t: t, ctx: ctx, rdb: rdb, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	s.start()
	t.Cleanup(func() { require.NoError(t, s.process.Close()) })
	return s
}

func (s *shop) start() {
	s.t.Helper()
	url := fmt.Sprintf("redis://%s/%d", s.rdb.Options().Addr, s.rdb.Options().DB)
	cfg, err := config.Parse("webhook.yaml", []byte(configuration), nil, config.WithAddr("127.0.0.1:0"), config.WithRedisURL(url))
	require.NoError(s.t, err)
	s.process = app.New(cfg, app.WithAPI(), app.WithWorker(), app.WithDevKeys())
	require.NoError(s.t, s.process.Start(s.ctx))
	s.base = "http://" + s.process.Addr()
}

func (s *shop) call(method, path, body string, headers ...string) (int, []byte) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.ctx, method, s.base+path, strings.NewReader(body))
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer dev-key")
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.http.Do(r)
	require.NoError(s.t, err)
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response.StatusCode, answer
}

func (s *shop) print(key, url, simulate string) *jobs.Job {
	s.t.Helper()
	body := fmt.Sprintf(`{"route":"print","input":{"page":"<&>","simulate":{"inkjet":%s}},"webhook_url":%q}`, simulate, url)
	status, answer := s.call(http.MethodPost, "/v1/jobs", body, "Idempotency-Key", key)
	require.Equal(s.t, http.StatusAccepted, status, "%s", answer)
	return s.decode(answer)
}

func (s *shop) decode(answer []byte) *jobs.Job {
	s.t.Helper()
	var job jobs.Job
	require.NoError(s.t, json.Unmarshal(answer, &job))
	return &job
}

func (s *shop) job(id string) *jobs.Job {
	s.t.Helper()
	status, answer := s.call(http.MethodGet, "/v1/jobs/"+id, "")
	require.Equal(s.t, http.StatusOK, status, "%s", answer)
	return s.decode(answer)
}

// until waits for the job's first delivery to be as it should.
func (s *shop) until(id string, good func(jobs.Webhook) bool) jobs.Webhook {
	s.t.Helper()
	var w jobs.Webhook
	require.Eventually(s.t, func() bool {
		job := s.job(id)
		if len(job.Webhooks) == 0 {
			return false
		}
		w = job.Webhooks[0]
		return good(w)
	}, patience, 20*time.Millisecond)
	return w
}

// hurry lets the waits of a job's first delivery be over.
func (s *shop) hurry(id string) {
	s.t.Helper()
	// A job's keys end in its id, and carry its partition.
	keys, err := s.rdb.Keys(s.ctx, "oj:{*}:job:"+id).Result()
	require.NoError(s.t, err)
	require.Len(s.t, keys, 1)
	require.NoError(s.t, recordtest.Set(s.ctx, s.rdb, keys[0], map[string]any{"h1.next": 1}))
	partition, _, _ := strings.Cut(keys[0], "job:")
	require.NoError(s.t, s.rdb.ZAddXX(s.ctx, partition+"due", redis.Z{Score: 1, Member: "webhook:" + id + ":h1"}).Err())
}

// The receiver fails five times: every try has the same webhook-id and, for a job
// that does not change any more, the same bytes; it is delivered once it recovers.
func TestReceiverFailsFiveTimes(t *testing.T) {
	t.Parallel()
	s := open(t)
	r := newReceiver(t, 5, webhooks.DevSecrets()["dev"])
	job := s.print("k1", r.url, `{"outcome":"succeed"}`)
	first := r.next(s.ctx)
	for try := 1; try <= 5; try++ {
		// Over, not just begun: then the next one is planned.
		s.until(job.ID, func(w jobs.Webhook) bool {
			return w.Tries == try && w.LastStatus == http.StatusInternalServerError && w.NextAt.Go().After(time.Now())
		})
		s.hurry(job.ID)
		next := r.next(s.ctx)
		require.Equal(t, first.ID, next.ID)
		require.Equal(t, first.Body, next.Body)
		require.Equal(t, []string{"ok"}, next.Verdicts)
	}
	w := s.until(job.ID, func(w jobs.Webhook) bool { return w.State == jobs.WebhookDelivered })
	require.Equal(t, 6, w.Tries)
	require.Equal(t, first.ID, w.ID)
	require.Empty(t, r.lines, "and not again")

	require.NotEqual(t, "ok", first.Tampered)
	require.NotEqual(t, "ok", first.Stolen)
	require.NotEqual(t, "ok", first.Old)
	var event struct {
		Type      string
		Timestamp time.Time
		Data      json.RawMessage
	}
	require.NoError(t, json.Unmarshal([]byte(first.Body), &event))
	require.Equal(t, "job.succeeded", event.Type)
	require.Equal(t, w.At.Go(), event.Timestamp)
	_, shown := s.call(http.MethodGet, "/v1/jobs/"+job.ID, "")
	require.Equal(t, withoutBooks(t, shown), string(event.Data), "the job as GET shows it, but for the books of its deliveries")
}

// withoutBooks is a job as the API shows it without its deliveries.
func withoutBooks(t *testing.T, job []byte) string {
	t.Helper()
	start := bytes.Index(job, []byte(`,"webhooks":[`))
	require.Positive(t, start)
	end := start + bytes.Index(job[start:], []byte("}],")) + len("}]")
	return strings.TrimSpace(string(job[:start]) + string(job[end:]))
}

// A silent provider: unknown is told of, and so is what comes of it, each under an
// id of its own; a delivery that is asked for again has its old one.
func TestUnknownThenSucceeded(t *testing.T) {
	t.Parallel()
	s := open(t)
	r := newReceiver(t, 0, webhooks.DevSecrets()["dev"])
	job := s.print("k1", r.url, `{"delay":"4s"}`)
	unknown, succeeded := r.next(s.ctx), r.next(s.ctx)
	require.Contains(t, unknown.Body, `{"type":"job.unknown"`)
	require.Contains(t, succeeded.Body, `{"type":"job.succeeded"`)
	require.NotEqual(t, unknown.ID, succeeded.ID)

	s.until(job.ID, func(w jobs.Webhook) bool { return w.State == jobs.WebhookDelivered })
	status, answer := s.call(http.MethodPost, "/v1/jobs/"+job.ID+"/webhooks/1/redeliver", `{"reason":"lost"}`)
	require.Equal(t, http.StatusOK, status, "%s", answer)
	again := r.next(s.ctx)
	require.Equal(t, unknown.ID, again.ID)
	require.Contains(t, again.Body, `{"type":"job.unknown"`)
	require.Contains(t, again.Body, `"state":"succeeded"`, "the job as it is, never as it was")
}

// While a secret is rotated a receiver can verify with the old one and the new one.
func TestRotation(t *testing.T) {
	t.Parallel()
	s := open(t)
	secrets := &webhooks.Secrets{Redis: s.rdb, Fixed: webhooks.DevSecrets()}
	before, err := secrets.Of(s.ctx, "dev")
	require.NoError(t, err)
	rotated, err := secrets.Rotate(s.ctx, "dev", time.Hour)
	require.NoError(t, err)
	r := newReceiver(t, 0, before.Current, rotated.Current)
	s.print("during", r.url, `{"outcome":"succeed"}`)
	during := r.next(s.ctx)
	require.Equal(t, []string{"ok", "ok"}, during.Verdicts)
	require.Equal(t, 2, during.Signatures)

	last, err := secrets.Rotate(s.ctx, "dev", 0)
	require.NoError(t, err)
	after := newReceiver(t, 0, rotated.Current, last.Current)
	s.print("after", after.url, `{"outcome":"succeed"}`)
	seen := after.next(s.ctx)
	require.NotEqual(t, "ok", seen.Verdicts[0])
	require.Equal(t, "ok", seen.Verdicts[1])
	require.Equal(t, 1, seen.Signatures)
}

// A submission whose deliveries could not be made is refused, and says what to do.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	acme, _, err := auth.New(s.rdb).Create(s.ctx, "acme", auth.Submit, "", time.Time{})
	require.NoError(t, err)
	for _, c := range []struct{ key, address, want string }{
		{"dev-key", "http://10.0.0.1/hook", "not a public one"},
		{"dev-key", "http://receiver.example/hook", "must be an https URL"},
		{acme, "https://receiver.example/hook", "onejob keys webhook-secret acme"},
	} {
		body := fmt.Sprintf(`{"route":"print","input":{},"webhook_url":%q}`, c.address)
		status, answer := s.call(http.MethodPost, "/v1/jobs", body, "Idempotency-Key", "k", "Authorization", "Bearer "+c.key)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, string(answer), c.want)
	}
}

// What a process left behind, its successor delivers.
func TestAnotherProcessGoesOn(t *testing.T) {
	t.Parallel()
	s := open(t)
	r := newReceiver(t, 1, webhooks.DevSecrets()["dev"])
	job := s.print("k1", r.url, `{"outcome":"succeed"}`)
	first := r.next(s.ctx)
	s.until(job.ID, func(w jobs.Webhook) bool { return w.LastStatus == http.StatusInternalServerError })
	require.NoError(t, s.process.Close())
	s.hurry(job.ID)
	s.start()
	second := r.next(s.ctx)
	require.Equal(t, first.ID, second.ID)
	require.Equal(t, first.Body, second.Body)
	s.until(job.ID, func(w jobs.Webhook) bool { return w.State == jobs.WebhookDelivered && w.Tries == 2 })
}
