package door

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

// thinking is how long the provider takes: longer than any client here waits.
const thinking = 5 * time.Second

// provider is a chat server that counts what it is asked to create.
type provider struct {
	url  string
	quit chan struct{}

	mu      sync.Mutex
	creates map[string]int // by the text of the last message
}

func (p *provider) asked(text string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.creates[text]
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{quit: make(chan struct{}), creates: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(p.create))
	p.url = server.URL
	t.Cleanup(func() {
		close(p.quit)
		server.Close()
	})
	return p
}

// create answers after some thinking, or not at all if asked to be silent.
func (p *provider) create(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Messages []struct{ Content string }
		Stream   bool
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &request) != nil || len(request.Messages) == 0 || !request.Stream {
		http.Error(w, "no such request", http.StatusBadRequest)
		return
	}
	text := request.Messages[len(request.Messages)-1].Content
	p.mu.Lock()
	p.creates[text]++
	p.mu.Unlock()
	think := time.NewTimer(thinking)
	defer think.Stop()
	if strings.Contains(text, "silent") {
		think.Stop()
	}
	select {
	case <-think.C:
	case <-r.Context().Done():
		return
	case <-p.quit:
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, chunk := range chunks {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", chunk)
	}
}

// What it answers: some text, and two tools to be called.
const (
	reply      = "Let me look that up: Grüße & <b>世界</b>."
	arguments1 = `{"city": "Zürich", "days": 3}`
	arguments2 = `{}`
)

var chunks = []string{
	chunk(`{"role":"assistant","content":"","refusal":null}`, "null"),
	chunk(`{"content":"Let me look that up: "}`, "null"),
	chunk(`{"content":"Grüße & <b>世界</b>."}`, "null"),
	chunk(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"weather","arguments":""}}]}`, "null"),
	chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\": \"Zür"}}]}`, "null"),
	chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"ich\", \"days\": 3}"}}]}`, "null"),
	chunk(`{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"now","arguments":"{}"}}]}`, "null"),
	chunk(`{}`, `"tool_calls"`),
	`{"id":"chatcmpl-42","object":"chat.completion.chunk","created":1700000000,"model":"gpt-5-2026","choices":[],` +
		`"usage":{"prompt_tokens":11,"completion_tokens":22,"total_tokens":33}}`,
	"[DONE]",
}

func chunk(delta, finish string) string {
	return `{"id":"chatcmpl-42","object":"chat.completion.chunk","created":1700000000,"model":"gpt-5-2026","system_fingerprint":"fp_1",` +
		`"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}],"usage":null}`
}
