package api_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/api"
	"onejob/jobs"
)

// async makes a request on the side.
func (b *bundle) async(send func() *reply) <-chan *reply {
	answers := make(chan *reply, 1)
	go func() { answers <- send() }()
	return answers
}

func within(t *testing.T, d time.Duration, answers <-chan *reply) *reply {
	t.Helper()
	select {
	case answer := <-answers:
		return answer
	case <-time.After(d):
		require.FailNow(t, "no answer")
		return nil
	}
}

func TestWaitEndsWithTheJob(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	claim := b.claim(job, 1)
	posted := b.async(func() *reply { return b.submit("k1", printBody, "Prefer", "wait") })
	read := b.async(func() *reply { return b.get(devKey, "/v1/jobs/"+job.ID, "Prefer", `respond-async, WAIT="30"; x=y`) })
	b.finalize(claim, `{"ok":1}`)

	answer := within(t, 20*time.Second, posted).is(http.StatusOK)
	require.Equal(t, "wait=60", answer.header.Get("Preference-Applied"))
	require.JSONEq(t, `{"ok":1}`, string(answer.job().Result))
	answer = within(t, 20*time.Second, read).is(http.StatusOK)
	require.Equal(t, "wait=30", answer.header.Get("Preference-Applied"))
	require.Equal(t, jobs.Succeeded, answer.job().State)
}

func TestWaitThatRunsOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	answer := b.submit("k1", printBody, "Prefer", "wait=1").is(http.StatusAccepted)
	require.Equal(t, "wait=1", answer.header.Get("Preference-Applied"))
	require.Equal(t, "1", answer.header.Get("Retry-After"))
	answer = b.get(devKey, answer.header.Get("Location"), "Prefer", "wait=0").is(http.StatusOK)
	require.Equal(t, "wait=0", answer.header.Get("Preference-Applied"))
}

func TestWaitThatCannotBeHonoured(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, preference := range []string{"wait=soon", "wait=-1", "wait=1.5", "respond-async", `x="wait=5"`} {
		answer := b.get(devKey, "/v1/jobs/"+b.made("k1").ID, "Prefer", preference).is(http.StatusOK)
		require.Empty(t, answer.header.Get("Preference-Applied"), preference)
	}
}

// A failed job has ended, too: whoever waits is told.
func TestWaitEndsWithAFailure(t *testing.T) {
	t.Parallel()
	b := setup(t)
	job := b.made("k1")
	claim := b.claim(job, 1)
	read := b.async(func() *reply { return b.get(devKey, "/v1/jobs/"+job.ID, "Prefer", "wait=60") })
	b.fail(claim)
	require.Equal(t, jobs.Failed, within(t, 20*time.Second, read).is(http.StatusOK).job().State)
}

// Without a signal of the change, the job is looked at now and then.
func TestWaitWithoutSignals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.serve(deaf{Store: b.store, err: errors.New("no signals")}, keyring{})
	job := b.made("k1")
	claim := b.claim(job, 1)
	read := b.async(func() *reply { return b.get(devKey, "/v1/jobs/"+job.ID, "Prefer", "wait=60") })
	b.finalize(claim, `{}`)
	require.Equal(t, jobs.Succeeded, within(t, 20*time.Second, read).is(http.StatusOK).job().State)
}

func TestStopEndsWaits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	watching := make(chan struct{}, 1)
	b.serve(told{Store: b.store, watching: watching}, keyring{})
	read := b.async(func() *reply { return b.submit("k1", printBody, "Prefer", "wait=60") })
	<-watching
	b.api.Stop()
	within(t, 20*time.Second, read).is(http.StatusAccepted)
}

// told is a store that tells of watches.
type told struct {
	api.Store
	watching chan struct{}
}

func (s told) Watch(id string) (<-chan struct{}, func(), error) {
	changes, stop, err := s.Store.Watch(id)
	s.watching <- struct{}{}
	return changes, stop, err
}
