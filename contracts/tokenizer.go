package contracts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"onejob/providers"
)

// ErrNoTokenizer is returned where a server has no tokenizer to ask.
var ErrNoTokenizer = errors.New("the server has no tokenizer to ask")

// Tokenizer asks the tokenizer of an inference server for how it renders messages:
// vLLM's POST /tokenize {model, messages}, or llama.cpp's POST /apply-template and
// then POST /tokenize {content}. Both stand beside the server's /v1. A server that
// has neither is not at fault.
type Tokenizer struct {
	BaseURL string // of the provider, with its /v1
	APIKey  string
	Headers map[string]string
	Model   string
	Client  *http.Client // nil: http.DefaultClient without redirects
}

// maxTokenizerAnswer bounds what is read of a tokenizer, in bytes.
const maxTokenizerAnswer = 8 << 20

// CountTokens returns how many tokens the messages have.
func (t Tokenizer) CountTokens(ctx context.Context, messages []byte) (int, error) {
	answer, err := t.post(ctx, "tokenize", map[string]any{"model": t.Model, "messages": json.RawMessage(messages)})
	if err != nil {
		return 0, err
	}
	var vllm struct {
		Count int `json:"count"`
	}
	if json.Unmarshal(answer, &vllm) == nil && vllm.Count > 0 {
		return vllm.Count, nil
	}
	return t.llamaCPP(ctx, messages)
}

func (t Tokenizer) llamaCPP(ctx context.Context, messages []byte) (int, error) {
	answer, err := t.post(ctx, "apply-template", map[string]any{"messages": json.RawMessage(messages)})
	if err != nil {
		return 0, err
	}
	var template struct {
		Prompt string `json:"prompt"`
	}
	if json.Unmarshal(answer, &template) != nil || template.Prompt == "" {
		return 0, ErrNoTokenizer
	}
	answer, err = t.post(ctx, "tokenize", map[string]any{"content": template.Prompt, "add_special": true, "parse_special": true})
	if err != nil {
		return 0, err
	}
	var tokenized struct {
		Tokens []json.RawMessage `json:"tokens"`
	}
	if json.Unmarshal(answer, &tokenized) != nil || len(tokenized.Tokens) == 0 {
		return 0, ErrNoTokenizer
	}
	return len(tokenized.Tokens), nil
}

// post returns the body of a 200, nil for an answer that is none, and an error
// without the address, which may hold a password.
func (t Tokenizer) post(ctx context.Context, what string, body map[string]any) ([]byte, error) {
	at, err := url.Parse(strings.TrimSuffix(strings.TrimRight(t.BaseURL, "/"), "/v1"))
	if err != nil {
		return nil, errors.New("the base URL cannot be read")
	}
	encoded, err := providers.Encode(body)
	if err != nil {
		return nil, fmt.Errorf("encoding the question to %s: %w", what, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.JoinPath(what).String(), bytes.NewReader(encoded))
	if err != nil {
		return nil, errors.New("the base URL cannot be asked")
	}
	req.Header.Set("Content-Type", "application/json")
	if t.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+t.APIKey)
	}
	for name, value := range t.Headers {
		req.Header.Set(name, value)
	}
	resp, err := t.client().Do(req)
	if err != nil {
		return nil, fmt.Errorf("POST /%s got no answer", what)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxTokenizerAnswer))
	switch {
	case err != nil:
		return nil, fmt.Errorf("POST /%s was cut off", what)
	case resp.StatusCode == http.StatusOK:
		return answer, nil
	case resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented && resp.StatusCode != http.StatusInternalServerError:
		return nil, fmt.Errorf("POST /%s: HTTP %d", what, resp.StatusCode)
	}
	return nil, nil
}

func (t Tokenizer) client() *http.Client {
	if t.Client != nil {
		return t.Client
	}
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
