package versions_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"

	"onejob/jobs"
)

// load is callers that submit job after job, each under a key of its own, and keep to
// the key until they are told of the job; then they look at a job of before.
type load struct {
	w    *world
	stop chan struct{}
	busy sync.WaitGroup

	mu   sync.Mutex
	apis []string
	ids  map[string]string // by key
	keys []string

	next  atomic.Int64
	newer atomic.Int64 // answers record-newer
}

const (
	callers  = 4
	callEach = 100 * time.Millisecond
	giveUp   = 2 * time.Minute
	lookBack = 10 // jobs
)

func (w *world) begin(apis ...*process) *load {
	l := &load{w: w, stop: make(chan struct{}), ids: map[string]string{}}
	l.use(apis...)
	for range callers {
		l.busy.Go(l.submitAll)
	}
	return l
}

// use has callers ask these APIs from now on, as a balancer that was told would.
func (l *load) use(apis ...*process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.apis = nil
	for _, api := range apis {
		l.apis = append(l.apis, api.addr)
	}
}

func (l *load) submitAll() {
	ticker := time.NewTicker(callEach)
	defer ticker.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-ticker.C:
			n := l.next.Add(1)
			l.submit(n, fmt.Sprintf("key-%d", n))
		}
	}
}

// submit sends one intent, to one API after another, until it is acknowledged.
func (l *load) submit(n int64, key string) {
	var said string
	for began := time.Now(); time.Since(began) < giveUp; n++ {
		status, raw, err := l.w.call(http.MethodPost, l.api(n), "/v1/jobs", key, `{"route":"print","input":{"page":"`+key+`"}}`)
		said = fmt.Sprintf("%d %s %v", status, raw, err)
		var job jobs.Job
		if status == http.StatusOK || status == http.StatusAccepted {
			if assert.NoError(l.w.t, json.Unmarshal(raw, &job), said) {
				l.told(key, job.ID)
			}
			return
		}
		if err == nil && status < http.StatusInternalServerError {
			assert.Fail(l.w.t, "refused", said)
			return
		}
		if strings.Contains(string(raw), "record-newer") {
			l.newer.Add(1)
		}
	}
	assert.Fail(l.w.t, "not acknowledged", "%s: %s", key, said)
}

func (l *load) api(n int64) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.apis[n%int64(len(l.apis))]
}

func (l *load) told(key, id string) {
	l.mu.Lock()
	before := ""
	if n := len(l.keys); n > lookBack && n%3 == 0 { // a caller who was not sure sends again
		before = l.keys[n-lookBack]
	}
	known := l.ids[key]
	if known == "" {
		l.keys = append(l.keys, key)
	}
	l.ids[key] = id
	l.mu.Unlock()
	assert.True(l.w.t, known == "" || known == id, "one key, one job (I7): %s", key)
	if before != "" && known == "" {
		l.submit(l.next.Load(), before)
	}
}

// flow waits until so many more jobs were acknowledged.
func (l *load) flow(n int64) {
	l.w.t.Helper()
	from := l.next.Load()
	l.w.within(2*time.Minute, "the load goes on", func() bool { return l.next.Load() >= from+n })
}

// end ends the load and gives all that was acknowledged.
func (l *load) end() map[string]string {
	close(l.stop)
	l.busy.Wait()
	return l.ids
}
