package soak_test

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// providerEnv makes the test binary the provider; it is where that listens.
const providerEnv = "ONEJOB_SOAK_PROVIDER"

// provider is never killed, so that it can count.
type provider struct {
	mu      sync.Mutex
	creates map[string]int    // by attempt
	effects map[string]int    // by job's key
	done    map[string]string // attempt → key
	ledger  ledger
}

// ledger is what the provider saw.
type ledger struct {
	Creates int `json:"creates"`
	Effects int `json:"effects"`
	// AttemptsTwice were created more than once, KeysTwice had more than one effect.
	AttemptsTwice []string `json:"attempts_twice"`
	KeysTwice     []string `json:"keys_twice"`
}

func runProvider(addr string) error {
	p := &provider{creates: map[string]int{}, effects: map[string]int{}, done: map[string]string{}}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /create", p.create)
	routes.HandleFunc("GET /status/{attempt}", p.status)
	routes.HandleFunc("GET /ledger", p.tell)
	server := &http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}

// Of a hundred creates so many are refused for now, have their answer cut off, or are
// silent for longer than the provider's timeout; the rest takes a few milliseconds.
const (
	busyPercent, lostPercent, silentPercent = 3, 2, 1
	silence                                 = 1500 * time.Millisecond // beyond timeout, within deadline
)

func (p *provider) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Attempt string `json:"attempt"`
		Input   struct {
			Key string `json:"key"`
		} `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	until, err := time.Parse(time.RFC3339, r.Header.Get("X-Onejob-Not-After"))
	late := err == nil && time.Now().After(until)
	number := numberOf(body.Attempt)
	p.take(body.Attempt)
	switch {
	case late || number < busyPercent:
		say(w, http.StatusServiceUnavailable, `{"error":{"message":"busy"}}`)
		return
	case number < busyPercent+lostPercent:
		p.act(body.Attempt, body.Input.Key)
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
		return
	case number < busyPercent+lostPercent+silentPercent:
		<-time.After(silence)
	default:
		<-time.After(time.Duration(number) * time.Millisecond)
	}
	p.act(body.Attempt, body.Input.Key)
	say(w, http.StatusOK, sheet(body.Input.Key))
}

// sheet is the result of a job.
func sheet(key string) string { return `{"sheet":"` + key + `"}` }

// numberOf is an attempt's draw, 0 to 99.
func numberOf(attempt string) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, attempt)
	return int(h.Sum32()>>8) % 100
}

func (p *provider) take(attempt string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ledger.Creates++
	if p.creates[attempt]++; p.creates[attempt] == 2 {
		p.ledger.AttemptsTwice = append(p.ledger.AttemptsTwice, attempt)
	}
}

func (p *provider) act(attempt, key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ledger.Effects++
	p.done[attempt] = key
	if p.effects[key]++; p.effects[key] == 2 {
		p.ledger.KeysTwice = append(p.ledger.KeysTwice, key)
	}
}

func (p *provider) status(w http.ResponseWriter, r *http.Request) {
	attempt := r.PathValue("attempt")
	p.mu.Lock()
	known, key := p.creates[attempt] > 0, p.done[attempt]
	p.mu.Unlock()
	switch {
	case !known:
		http.NotFound(w, r)
	case key != "":
		say(w, http.StatusOK, `{"status":"succeeded","result":`+sheet(key)+`}`)
	case numberOf(attempt) < busyPercent:
		say(w, http.StatusOK, `{"status":"failed","error":"busy"}`)
	default:
		say(w, http.StatusOK, `{"status":"running"}`)
	}
}

func (p *provider) tell(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, err := json.Marshal(p.ledger)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	say(w, http.StatusOK, string(text))
}

func say(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}
