package contracts_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/contracts"
	"onejob/providers"
	"onejob/providers/openai"
)

// chat is what a scripted server is asked.
type chat struct {
	Messages []struct{ Role, Content string }
	Body     map[string]json.RawMessage
}

func (c chat) last() string { return c.Messages[len(c.Messages)-1].Content }

// tokens is the server's count: the words, and four a message for the template.
func (c chat) tokens() int {
	n := 0
	for _, m := range c.Messages {
		n += 4 + len(strings.Fields(m.Content))
	}
	return n
}

// reply is what a scripted server answers.
type reply struct {
	status  int
	content string
	finish  string
	tokens  int
	more    map[string]any // members of the response
}

// scripted is a server of OpenAI's API that behaves, unless change says
// otherwise. It honours temperature: above 0 no two answers are equal.
type scripted struct {
	URL   string
	calls atomic.Int64
	other func(w http.ResponseWriter, path string, body []byte) // beside the API
}

func serve(t testing.TB, change func(chat, *reply)) *scripted {
	t.Helper()
	s := &scripted{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]json.RawMessage
		if json.NewDecoder(r.Body).Decode(&body) != nil {
			http.Error(w, "no JSON", http.StatusBadRequest)
			return
		}
		if r.URL.Path != "/v1/chat/completions" {
			if s.other == nil {
				http.NotFound(w, r)
				return
			}
			raw, _ := json.Marshal(body)
			s.other(w, r.URL.Path, raw)
			return
		}
		asked := chat{Body: body}
		_ = json.Unmarshal(body["messages"], &asked.Messages)
		n := s.calls.Add(1)
		answer := reply{status: http.StatusOK, finish: "stop", tokens: asked.tokens()}
		answer.content = behave(asked, n)
		if change != nil {
			change(asked, &answer)
		}
		answer.write(w)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

func behave(asked chat, n int64) string {
	if system := asked.Messages[0]; system.Role == "system" {
		_, rest, _ := strings.Cut(system.Content, "The code word is ")
		word, _, _ := strings.Cut(rest, ".")
		return "It is " + strings.ToUpper(word) + "."
	}
	if strings.HasPrefix(asked.last(), "Invent") {
		if string(asked.Body["temperature"]) == "0" {
			return "qwhzxkvjpwmtyrbnclsdfgau"
		}
		return fmt.Sprintf("sequence%d", n)
	}
	return `{"summary":"The press jammed."}`
}

func (a reply) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	if a.status != http.StatusOK {
		_, _ = fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":null}}`, a.content)
		return
	}
	body := map[string]any{
		"id": "c", "object": "chat.completion", "created": 1, "model": "m-1",
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": a.finish, "message": map[string]any{"role": "assistant", "content": a.content},
		}},
		"usage": map[string]any{"prompt_tokens": a.tokens, "completion_tokens": 5, "total_tokens": a.tokens + 5, "cost": 0.002},
	}
	maps.Copy(body, a.more)
	_ = json.NewEncoder(w).Encode(body)
}

// target is a provider of type openai at a server.
func target(t testing.TB, url string) contracts.Target {
	t.Helper()
	transport := providers.NewTransport(0)
	t.Cleanup(transport.CloseIdleConnections)
	options := map[string]any{"max_tokens": 200, "temperature": 1}
	p, err := openai.New(providers.Config{
		Name: "gpt", Type: openai.Type, BaseURL: url + "/v1", Model: "m-1", Transport: transport, Options: options,
	})
	require.NoError(t, err)
	return contracts.Target{
		Route: "summary", Provider: "gpt", Type: openai.Type, Model: "m-1", BaseURL: url + "/v1", Options: options, AI: true,
		Call: p, Timeout: 10 * time.Second, Deadline: 20 * time.Second,
	}
}
