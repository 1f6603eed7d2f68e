package chaos_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	providerEnv     = "ONEJOB_CHAOS_PROVIDER"      // makes the test binary the provider; the ledger's path
	providerAddrEnv = "ONEJOB_CHAOS_PROVIDER_ADDR" // where it listens
)

// entry is one line of the ledger. A create is written, and on the disk, before
// anything is answered; an effect that comes later is a line of its own.
type entry struct {
	Seq     int       `json:"seq"`
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"` // create or effect
	Key     string    `json:"key"`
	Attempt string    `json:"attempt"`
	Mode    string    `json:"mode"`
	Result  string    `json:"result,omitempty"` // set where there was an effect
}

// modes are what the provider can do with a create; the first is the usual one.
var modes = []string{"ok", "slow", "lost", "late", "gateway", "busy", "garbage", "reject"}

// modeOf picks a mode from the seed, the job's key and the attempt's number, so that a
// replay meets the same provider.
func modeOf(seed int64, key, attempt string) string {
	_, number, _ := strings.Cut(attempt, "-a")
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%d/%s/%s", seed, key, number)
	if n := int(h.Sum32()>>8) % 100; n < 35 {
		return modes[1+n/5]
	}
	return modes[0]
}

// provider remembers by its ledger alone, so it can be killed.
type provider struct {
	seed int64

	mu      sync.Mutex
	file    *os.File
	seq     int
	started map[string]string // attempt → mode
	results map[string]string // attempt → result
	dead    map[string]bool   // begun by a process that was killed before the effect
}

func runProvider(path, addr string, seed int64) error {
	p := &provider{seed: seed, started: map[string]string{}, results: map[string]string{}, dead: map[string]bool{}}
	if old, err := readLedger(path); err == nil {
		for _, e := range old {
			p.remember(e)
		}
		for attempt := range p.started {
			p.dead[attempt] = p.results[attempt] == ""
		}
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	p.file = file
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /create", p.create)
	routes.HandleFunc("GET /status/{attempt}", p.status)
	routes.HandleFunc("POST /cancel/{attempt}", func(http.ResponseWriter, *http.Request) {})
	server := &http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}

func (p *provider) remember(e entry) {
	p.seq = max(p.seq, e.Seq)
	if e.Kind == "create" {
		p.started[e.Attempt] = e.Mode
	}
	if e.Result != "" {
		p.results[e.Attempt] = e.Result
	}
}

// write appends a line and has it on the disk when it returns; a provider that cannot
// is of no use.
func (p *provider) write(e entry, effect bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.Seq, e.At = p.seq+1, time.Now()
	if effect {
		e.Result = fmt.Sprintf("sheet-%d", e.Seq)
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = p.file.Write(append([]byte("\n"), line...)) // ends what a killed process may have begun
	}
	if err == nil {
		err = p.file.Sync()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(1)
	}
	p.remember(e)
	return e.Result
}

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
	e := entry{Kind: "create", Key: body.Input.Key, Attempt: body.Attempt, Mode: modeOf(p.seed, body.Input.Key, body.Attempt)}
	if until, err := time.Parse(time.RFC3339, r.Header.Get("X-Onejob-Not-After")); err == nil && time.Now().After(until) {
		e.Mode = "expired"
	}
	later := e.Mode == "late" || e.Mode == "busy" || e.Mode == "reject" || e.Mode == "expired"
	p.act(w, e, p.write(e, !later))
}

func (p *provider) act(w http.ResponseWriter, e entry, result string) {
	switch e.Mode {
	case "slow":
		<-time.After(300 * time.Millisecond)
	case "late":
		<-time.After(1200 * time.Millisecond)
		e.Kind = "effect"
		result = p.write(e, true)
	case "lost":
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = conn.Close()
		}
		return
	case "gateway":
		w.WriteHeader(http.StatusBadGateway)
		return
	case "busy":
		say(w, http.StatusServiceUnavailable, `{"error":{"message":"busy"}}`)
		return
	case "garbage":
		say(w, http.StatusOK, `{"sheet": <html>`)
		return
	case "reject", "expired":
		say(w, http.StatusUnprocessableEntity, `{"error":{"message":"no"}}`)
		return
	}
	say(w, http.StatusOK, resultJSON(result))
}

func resultJSON(result string) string { return `{"sheet":"` + result + `"}` }

func say(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (p *provider) status(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	attempt := r.PathValue("attempt")
	mode, result, dead := p.started[attempt], p.results[attempt], p.dead[attempt]
	p.mu.Unlock()
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

// readLedger gives the whole lines; one a killed process left half written does not count.
func readLedger(path string) ([]entry, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var all []entry
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var e entry
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			all = append(all, e)
		}
	}
	return all, lines.Err()
}
