package recovery_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// providerEnv makes the test binary be the provider; its value is the path of
// the ledger.
const providerEnv = "ONEJOB_E2E_PROVIDER"

// provider is any number of providers by name, each below its own path:
//
//	POST /<name>/create            what input.do.<name> says (see act)
//	GET  /<name>/status/<attempt>  {status, result}
//	POST /<name>/cancel/<attempt>  written down
//
// It counts and remembers; it never dedupes.
type provider struct {
	ledger *ledger

	mu       sync.Mutex
	statuses map[string]string // by attempt
	outage   bool              // look-ups answer 500
}

func runProvider(path string) error {
	l, err := openLedger(path)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr().String())
	p := &provider{ledger: l, statuses: map[string]string{}}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /{name}/create", p.create)
	routes.HandleFunc("GET /{name}/status/{attempt}", p.status)
	routes.HandleFunc("POST /{name}/cancel/{attempt}", p.cancel)
	routes.HandleFunc("POST /set", p.set)
	server := &http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second, ErrorLog: nil}
	return server.Serve(listener)
}

type createBody struct {
	Job     string `json:"job"`
	Attempt string `json:"attempt"`
	Input   struct {
		Do map[string]any `json:"do"`
	} `json:"input"`
}

func (p *provider) create(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	raw, err := io.ReadAll(r.Body)
	var body createBody
	if err == nil {
		err = json.Unmarshal(raw, &body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	sum := sha256.Sum256(raw)
	if err := p.ledger.add(entry{
		Kind: "create", Provider: name, Attempt: body.Attempt, Key: r.Header.Get("Idempotency-Key"),
		Body: hex.EncodeToString(sum[:]), At: time.Now(),
	}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	p.act(w, r, name, body)
}

// act does what the input says: one word, or a list of them by the attempt's
// number, the last one repeated. A word may carry a time, as in later:2s.
//
//	ok      the result        later:d   the result, after d
//	hang    nothing, ever     cut       the effect, then a broken connection
//	accept:d  202, done after d (for good when d is 0)
//	refuse  422               busy      503
func (p *provider) act(w http.ResponseWriter, r *http.Request, name string, body createBody) {
	word, after, _ := strings.Cut(wordFor(body.Input.Do[name], body.Attempt), ":")
	wait, _ := time.ParseDuration(after)
	switch word {
	case "later":
		p.note(body.Attempt, "running")
		sleep(r, wait)
		p.done(w, body.Attempt)
	case "hang":
		p.note(body.Attempt, "running")
		<-r.Context().Done()
	case "cut":
		p.note(body.Attempt, "succeeded")
		hangUp(w)
	case "accept":
		p.note(body.Attempt, "running")
		if wait > 0 {
			time.AfterFunc(wait, func() { p.note(body.Attempt, "succeeded") })
		}
		w.Header().Set("Location", "/"+name+"/status/"+body.Attempt)
		w.WriteHeader(http.StatusAccepted)
	case "refuse":
		p.note(body.Attempt, "failed")
		answerError(w, http.StatusUnprocessableEntity)
	case "busy":
		answerError(w, http.StatusServiceUnavailable)
	default:
		p.done(w, body.Attempt)
	}
}

// wordFor picks the word for an attempt, whose id ends in -a<number>.
func wordFor(do any, attempt string) string {
	switch do := do.(type) {
	case string:
		return do
	case []any:
		n := 1
		_, number, _ := strings.Cut(attempt, "-a")
		_, _ = fmt.Sscan(number, &n)
		word, _ := do[min(n, len(do))-1].(string)
		return word
	}
	return "ok"
}

func (p *provider) done(w http.ResponseWriter, attempt string) {
	p.note(attempt, "succeeded")
	_ = json.NewEncoder(w).Encode(map[string]string{"printed": attempt})
}

func answerError(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"error":{"message":"no"}}`)
}

// hangUp breaks the connection after the effect and before the answer.
func hangUp(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

func sleep(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}
