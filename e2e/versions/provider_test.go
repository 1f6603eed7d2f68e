package versions_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// providerEnv makes the test binary be the provider; its value is the path of the
// ledger.
const providerEnv = "ONEJOB_VERSIONS_PROVIDER"

// callTime is how long the provider takes: longer than it takes to begin to stop a
// worker, so that some calls are under way whenever one is.
const callTime = 300 * time.Millisecond

// runProvider writes the attempt of every call into the ledger before anything else,
// a line each, and never dedupes.
func runProvider(path string) error {
	ledger, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr().String())
	var mu sync.Mutex
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		attempt := r.Header.Get("X-Onejob-Attempt")
		mu.Lock()
		_, err := fmt.Fprintln(ledger, attempt)
		mu.Unlock()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		timer := time.NewTimer(callTime)
		defer timer.Stop()
		<-timer.C
		_ = json.NewEncoder(w).Encode(map[string]string{"printed": attempt})
	})}
	return server.Serve(listener)
}

// calls counts the calls of every attempt.
func (w *world) calls() map[string]int {
	w.t.Helper()
	raw, err := os.ReadFile(w.ledger)
	w.must(err)
	counted := map[string]int{}
	for attempt := range strings.FieldsSeq(string(raw)) {
		counted[attempt]++
	}
	return counted
}
