package chaos_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

const (
	providerEnv     = "ONEJOB_CHAOS_PROVIDER"      // makes the test binary the provider; the ledger's path
	providerAddrEnv = "ONEJOB_CHAOS_PROVIDER_ADDR" // where it listens
)

// provider plays both presses for all workers. It remembers by its ledger alone, so it
// can be killed. Each worker has a path of its own, and so it can be told how many
// calls are under way from whom.
type provider struct {
	seed int64
	book *book

	mu     sync.Mutex
	flying map[string]int
}

func runProvider(path, addr string, seed int64) error {
	b, err := openBook(path)
	if err != nil {
		return err
	}
	p := &provider{seed: seed, book: b, flying: map[string]int{}}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /{from}/create/{press}", p.create)
	routes.HandleFunc("GET /{from}/status/{attempt}", p.status)
	routes.HandleFunc("POST /{from}/cancel/{attempt}", func(http.ResponseWriter, *http.Request) {})
	routes.HandleFunc("GET /flying/{from}", p.tellFlying)
	server := &http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}

func (p *provider) fly(from string, by int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flying[from] += by
	return p.flying[from]
}

func (p *provider) tellFlying(w http.ResponseWriter, r *http.Request) {
	say(w, http.StatusOK, fmt.Sprint(p.fly(r.PathValue("from"), 0)))
}

// create takes an order. What it takes past the time in which it may be sent, by the
// header, it refuses.
func (p *provider) create(w http.ResponseWriter, r *http.Request) {
	from := r.PathValue("from")
	p.fly(from, 1)
	defer p.fly(from, -1)
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
	notAfter, err := time.Parse(time.RFC3339, r.Header.Get("X-Onejob-Not-After"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	mode := modeOf(p.seed, body.Input.Key, body.Attempt)
	l := p.book.enter(&line{
		entry:  entry{Kind: "create", Key: body.Input.Key, Attempt: body.Attempt, Press: r.PathValue("press"), Mode: mode},
		effect: effectAtOnce[mode], until: notAfter,
	})
	p.answer(w, r, l)
}

// status tells what the book says.
func (p *provider) status(w http.ResponseWriter, r *http.Request) {
	mode, result, dead := p.book.tell(r.PathValue("attempt"))
	switch {
	case mode == "":
		http.NotFound(w, r)
	case result != "":
		say(w, http.StatusOK, `{"status":"succeeded","result":`+resultJSON(result)+`}`)
	case mode == "late" && !dead:
		say(w, http.StatusOK, `{"status":"running"}`)
	default:
		say(w, http.StatusOK, `{"status":"failed","error":"not done"}`)
	}
}

func resultJSON(result string) string { return `{"sheet":"` + result + `"}` }

func say(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write([]byte(body)); err != nil {
		fmt.Fprintln(os.Stderr, "answering:", err)
	}
}
