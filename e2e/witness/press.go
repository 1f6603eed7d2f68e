package witness

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Create is one request for work that the press received, whether it did it or not.
type Create struct {
	Seq     int
	At      time.Time
	Key     string // of the job
	Job     string
	Attempt string
	Mode    string
	Effect  bool
	ready   time.Time // when a look-up finds it done
}

// Modes of the press: what it does with the first attempt of a job. It prints later
// ones without ado.
const (
	ModePrint  = "print"  // the result, at once
	ModeSlow   = "slow"   // the result, after a moment
	ModeBusy   = "busy"   // a definite no for now
	ModeRefuse = "refuse" // a definite no for good
	ModeCut    = "cut"    // the effect, then a broken connection
	modeLate   = "late"   // came after X-Onejob-Not-After, and was refused
)

// Press is a provider that counts and remembers; it never dedupes.
type Press struct {
	URL string

	mu      sync.Mutex
	creates []Create
	latest  map[string]int // attempt → index of its latest create
}

// NewPress starts one; it ends with the test.
func NewPress(t testing.TB) *Press {
	t.Helper()
	p := &Press{latest: map[string]int{}}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /create", p.create)
	routes.HandleFunc("GET /status/{attempt}", p.status)
	server := httptest.NewServer(routes)
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

// Creates are those since the first of them that is wanted, oldest first.
func (p *Press) Creates(since int) []Create {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Create(nil), p.creates[min(since, len(p.creates)):]...)
}

type order struct {
	Job     string `json:"job"`
	Attempt string `json:"attempt"`
	Input   struct {
		Key  string `json:"key"`
		Mode string `json:"mode"`
		MS   int    `json:"ms"`
	} `json:"input"`
}

// mode is what is done with an order.
func (o *order) mode(notAfter string) string {
	until, err := time.Parse(time.RFC3339, notAfter)
	switch {
	case err == nil && time.Now().After(until):
		return modeLate
	case strings.HasSuffix(o.Attempt, "-a1"):
		return o.Input.Mode
	}
	return ModePrint
}

func (p *Press) create(w http.ResponseWriter, r *http.Request) {
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c := Create{At: time.Now(), Key: o.Input.Key, Job: o.Job, Attempt: o.Attempt, Mode: o.mode(r.Header.Get("X-Onejob-Not-After"))}
	c.Effect = c.Mode != ModeBusy && c.Mode != ModeRefuse && c.Mode != modeLate
	c.ready = c.At
	if c.Mode == ModeSlow {
		c.ready = c.At.Add(time.Duration(o.Input.MS) * time.Millisecond)
	}
	c = p.keep(c)
	switch c.Mode {
	case ModeBusy:
		answer(w, http.StatusServiceUnavailable, `{"error":{"message":"busy"}}`)
	case ModeRefuse, modeLate:
		answer(w, http.StatusUnprocessableEntity, `{"error":{"message":"no"}}`)
	case ModeCut:
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = conn.Close()
		}
	default:
		await(r, time.Until(c.ready))
		answer(w, http.StatusOK, string(c.Result()))
	}
}

// keep writes a create down before anything is answered.
func (p *Press) keep(c Create) Create {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.Seq = len(p.creates)
	p.latest[c.Attempt] = c.Seq
	p.creates = append(p.creates, c)
	return c
}

// Result is what the press answers for a create that had its effect: no two of them
// have the same.
func (c *Create) Result() json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"attempt":%q,"sheet":%d}`, c.Attempt, c.Seq))
}

func (p *Press) status(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	at, ok := p.latest[r.PathValue("attempt")]
	var c Create
	if ok {
		c = p.creates[at]
	}
	p.mu.Unlock()
	switch {
	case !ok:
		http.NotFound(w, r)
	case !c.Effect:
		answer(w, http.StatusOK, `{"status":"failed","error":"not done"}`)
	case time.Now().Before(c.ready):
		answer(w, http.StatusOK, `{"status":"running"}`)
	default:
		answer(w, http.StatusOK, `{"status":"succeeded","result":`+string(c.Result())+`}`)
	}
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func await(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}
