package demo

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// printshop is a provider of its own: two printers behind HTTP that count the
// sheets they were asked for, whatever became of the answers.
type printshop struct {
	server   *http.Server
	listener net.Listener

	mu     sync.Mutex
	sheets map[string]int // by page, at any printer
}

// order is what the type http sends, as far as a printer cares.
type order struct {
	Input struct {
		Page string `json:"page"`
		// Slow is how long a printer takes, by its name: a Go duration.
		Slow map[string]string `json:"slow"`
	} `json:"input"`
}

func openPrintshop() (*printshop, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	p := &printshop{listener: listener, sheets: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{printer}", p.print)
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

func (p *printshop) url() string { return "http://" + p.listener.Addr().String() }

// close hangs up on whoever still waits for a sheet.
func (p *printshop) close() error {
	if err := p.server.Close(); err != nil {
		return fmt.Errorf("closing the print shop: %w", err)
	}
	return nil
}

// print prints at once; only its answer may take its time.
func (p *printshop) print(w http.ResponseWriter, r *http.Request) {
	printer := r.PathValue("printer")
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		http.Error(w, `{"error":"not an order"}`, http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	p.sheets[o.Input.Page]++
	p.mu.Unlock()
	if slow, err := time.ParseDuration(o.Input.Slow[printer]); err == nil {
		select {
		case <-time.After(slow):
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"printed": o.Input.Page, "by": printer})
}

func (p *printshop) printed(page string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sheets[page]
}
