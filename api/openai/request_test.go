package openai_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/api/openai"
)

func TestRequestsThatCannotBeUnderstood(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{})
	const messages = `"messages":[{"role":"user","content":"hello"}]`
	tests := map[string]struct {
		body, param, says string
		status            int
	}{
		"no JSON":           {body: `{"model":`, says: ""},
		"trailing data":     {body: hello + "1", says: "goes on"},
		"twice":             {body: `{"model":"chat","model":"chat",` + messages + `}`, says: "occurs twice"},
		"a list":            {body: `[]`, says: "object"},
		"no model":          {body: `{` + messages + `}`, param: "model", says: "missing"},
		"model is empty":    {body: `{"model":"",` + messages + `}`, param: "model"},
		"model is a number": {body: `{"model":1,` + messages + `}`, param: "model"},
		"no messages":       {body: `{"model":"chat"}`, param: "messages", says: "missing"},
		"empty messages":    {body: `{"model":"chat","messages":[]}`, param: "messages", says: "at least one"},
		"messages: text":    {body: `{"model":"chat","messages":"hello"}`, param: "messages"},
		"messages: null":    {body: `{"model":"chat","messages":null}`, param: "messages"},
		"stream: 1":         {body: `{"model":"chat","stream":1,` + messages + `}`, param: "stream", says: "true or false"},
		"stream_options":    {body: `{"model":"chat","stream_options":1,` + messages + `}`, param: "stream_options"},
		"include_usage":     {body: `{"model":"chat","stream_options":{"include_usage":"yes"},` + messages + `}`, param: "stream_options.include_usage"},
		"unknown option":    {body: `{"model":"chat","stream_options":{"x":1},` + messages + `}`, param: "stream_options.x"},
		"params": {
			body: `{"model":"chat","temperature":1,"top_p":1,"n":2,` + messages + `}`, param: "n",
			says: "does not let a caller set n, top_p. Leave out what the route does not list, or list it in the configuration: " +
				"routes.chat.params: [temperature, tools, seed, n, top_p].",
		},
		"no params allowed": {
			body: `{"model":"print","temperature":1,` + messages + `}`, param: "temperature",
			says: "routes.print.params: [temperature].",
		},
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				b := b.in(t)
				f := b.chat("k", test.body).fault(http.StatusBadRequest, "request_invalid", "")
				require.Equal(t, "invalid_request_error", f.Type)
				require.Contains(t, f.Message, test.says)
				if test.param == "" {
					require.Nil(t, f.Param)
				} else {
					require.Equal(t, test.param, *f.Param)
				}
			})
		}
		require.Zero(t, b.count(), "nothing was written")
	})
}

func TestOtherRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{})
	f := b.chat("k", strings.Replace(hello, `"chat"`, `"gpt-4o"`, 1)).fault(http.StatusNotFound, "model_not_found", "")
	require.Equal(t, "model", *f.Param)
	require.Contains(t, f.Message, "chat, print")
	b.chat("k", hello, "Content-Type", "text/plain").fault(http.StatusUnsupportedMediaType, "media_type_unsupported", "")
	large := strings.Replace(hello, "hello", strings.Repeat("x", 1<<20), 1)
	b.chat("k", large).fault(http.StatusRequestEntityTooLarge, "request_too_large", "")
	require.Zero(t, b.count())
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{})
	call := func(method, path string) *reply {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		got, err := b.send(ctx, method, openai.Root+path, "")
		require.NoError(t, err)
		return got
	}
	for _, path := range []string{"", "/", "/responses", "/embeddings", "/completions", "/chat", "/chat/completions/", "/models/"} {
		f := call(http.MethodPost, path).fault(http.StatusNotFound, "not_found", "")
		require.Contains(t, f.Message, "/openai/v1/chat/completions", path)
	}
	got := call(http.MethodGet, "/chat/completions")
	got.fault(http.StatusMethodNotAllowed, "method_not_allowed", "")
	require.Equal(t, "POST", got.header.Get("Allow"))
	got = call(http.MethodDelete, "/models/chat")
	got.fault(http.StatusMethodNotAllowed, "method_not_allowed", "")
	require.Equal(t, "GET", got.header.Get("Allow"))
}

func TestModels(t *testing.T) {
	t.Parallel()
	b := setup(t, openai.Config{})
	call := func(path, key string) *reply {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		got, err := b.send(ctx, http.MethodGet, openai.Root+path, "", "Authorization", "Bearer "+key)
		require.NoError(t, err)
		return got
	}
	const chat = `{"id":"chat","object":"model","created":0,"owned_by":"onejob"}`
	const printing = `{"id":"print","object":"model","created":0,"owned_by":"onejob"}`
	for _, key := range []string{devKey, viewerKey, operatorKey} {
		require.Equal(t, `{"object":"list","data":[`+chat+`,`+printing+`]}`, call("/models", key).is(http.StatusOK).body)
		require.Equal(t, chat, call("/models/chat", key).is(http.StatusOK).body)
	}
	call("/models/gpt-4o", devKey).fault(http.StatusNotFound, "model_not_found", "")
	call("/models", "nobody").fault(http.StatusUnauthorized, "invalid_api_key", "")
	call("/models/chat", "nobody").fault(http.StatusUnauthorized, "invalid_api_key", "")
}
