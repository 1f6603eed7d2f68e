// Package twoservers_test proves what the example says, against two scripted
// servers.
package twoservers_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.yaml.in/yaml/v3"

	"onejob/contracts"
	"onejob/providers"
	"onejob/providers/openai"
	"onejob/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write fallback.txt anew")

// settings are what is read of onejob.yaml here.
type settings struct {
	Providers map[string]struct {
		Type    string
		BaseURL string `yaml:"base_url"`
		Model   string
	}
	Routes map[string]struct {
		Providers []string
		Contract  string
		Effects   string
	}
}

func load(t *testing.T, primary, fallback string) settings {
	t.Helper()
	raw, err := os.ReadFile("onejob.yaml")
	require.NoError(t, err)
	text := os.Expand(string(raw), func(name string) string {
		return map[string]string{
			"PRIMARY_URL": primary + "/v1", "PRIMARY_MODEL": "large", "FALLBACK_URL": fallback + "/v1", "FALLBACK_MODEL": "small",
		}[name]
	})
	var s settings
	require.NoError(t, yaml.Unmarshal([]byte(text), &s))
	return s
}

// asked is a request to a scripted server.
type asked struct {
	Messages    []struct{ Role, Content string }
	Temperature *float64
}

// serve is a server that answers with what answer returns.
func serve(t *testing.T, answer func(asked) string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a asked
		if json.NewDecoder(r.Body).Decode(&a) != nil || r.URL.Path != "/v1/chat/completions" {
			http.NotFound(w, r)
			return
		}
		words := 8
		for _, m := range a.Messages {
			words += len(strings.Fields(m.Content))
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"id": "c", "object": "chat.completion", "created": 1, "model": "scripted",
			"choices": []any{map[string]any{
				"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": answer(a)},
			}},
			"usage": map[string]any{"prompt_tokens": words, "completion_tokens": 9, "total_tokens": words + 9},
		})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// good keeps the contract.
func good(a asked) string {
	last := a.Messages[len(a.Messages)-1].Content
	switch {
	case a.Messages[0].Role == "system":
		return a.Messages[0].Content
	case strings.Contains(last, "charged"):
		return `{"category":"billing","urgency":2,"summary":"Charged twice for order 1182."}`
	case strings.Contains(last, "fire"):
		return `{"category":"defect","urgency":5,"summary":"The press caught fire."}`
	case strings.Contains(last, "parcel"):
		return `{"category":"delivery","urgency":2,"summary":"Asks where the parcel is."}`
	case a.Temperature != nil && *a.Temperature == 0:
		return "wqzkfjvbhxnrmtdplscyguae"
	}
	return fmt.Sprint(time.Now().UnixNano())
}

// bad breaks it in four ways, all of them common.
func bad(a asked) string {
	last := a.Messages[len(a.Messages)-1].Content
	switch {
	case a.Messages[0].Role == "system":
		return "I do not know a code word."
	case strings.Contains(last, "charged"):
		return "```json\n" + good(a) + "\n```"
	case strings.Contains(last, "fire"):
		return `{"category":"defect","urgency":"high","summary":"The press caught fire."}`
	case strings.Contains(last, "parcel"):
		return `{"category":"delivery","urgency":2,"summary":"Asks where the parcel is.","confidence":0.9}`
	}
	return good(a)
}

func TestVerify(t *testing.T) {
	t.Parallel()
	s := load(t, serve(t, good), serve(t, bad))
	route := s.Routes["ticket"]
	contract, err := contracts.Load(route.Contract)
	require.NoError(t, err)

	store := contracts.NewStore(redistest.Mini(t))
	book := contracts.NewBook(store)
	for _, name := range route.Providers {
		p := s.Providers[name]
		transport := providers.NewTransport(0)
		t.Cleanup(transport.CloseIdleConnections)
		call, err := openai.New(providers.Config{Name: name, Type: p.Type, BaseURL: p.BaseURL, Model: p.Model, Transport: transport})
		require.NoError(t, err)
		require.NoError(t, book.Add(contract, contracts.Target{
			Route: "ticket", Provider: name, Type: p.Type, Model: p.Model, BaseURL: p.BaseURL, AI: true, Call: call,
		}))
	}
	for _, e := range book.Entries("ticket", "") {
		report, err := contracts.Verifier{}.Run(t.Context(), e.Contract, e.Target, 1, nil)
		require.NoError(t, err)
		require.NoError(t, store.Keep(t.Context(), report, time.Now()))
		if e.Target.Provider == "fallback" {
			compare(t, report)
		}
	}
	ids, err := book.Certificates(t.Context(), "ticket")
	require.NoError(t, err)
	require.Contains(t, ids, "primary")
	require.NotContains(t, ids, "fallback", "it must not be failed over to")
}

// compare holds what is printed to fallback.txt, and that to the documentation.
func compare(t *testing.T, report *contracts.Report) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.Write(&b))
	if *update {
		require.NoError(t, os.WriteFile("fallback.txt", b.Bytes(), 0o600))
	}
	want, err := os.ReadFile("fallback.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
	docs, err := os.ReadFile("../../docs/contracts.md")
	require.NoError(t, err)
	require.Contains(t, string(docs), b.String(), "the documentation shows something else")
}

// At run time the same answers are definite failures, each of its class; and as
// the route's effects are none, they may be asked for again.
func TestJudge(t *testing.T) {
	t.Parallel()
	contract, err := contracts.Load("contracts/ticket.yaml")
	require.NoError(t, err)
	for message, reason := range map[string]string{
		"charged": contracts.ReasonFenced, "fire": contracts.ReasonWrongType, "parcel": contracts.ReasonExtraKeys,
	} {
		result := func(answer func(asked) string) json.RawMessage {
			raw, err := json.Marshal(map[string]any{
				"content":       answer(asked{Messages: []struct{ Role, Content string }{{"user", message}}}),
				"finish_reason": "stop",
			})
			require.NoError(t, err)
			return raw
		}
		judged := contract.Judge(providers.Success(result(bad), nil))
		require.Equal(t, providers.Failed, judged.Kind)
		require.Equal(t, reason, judged.Reason)
		require.True(t, contracts.Retryable(judged.Reason, "none"))
		require.Equal(t, providers.Succeeded, contract.Judge(providers.Success(result(good), nil)).Kind)
	}
}
