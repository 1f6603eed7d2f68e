package door

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
)

// request is what a caller does with a client of OpenAI's.
type request struct {
	Base    string         `json:"base"`
	Key     string         `json:"key,omitempty"`
	Timeout int            `json:"timeout,omitempty"` // of the client, in ms; 0: its default
	Calls   int            `json:"calls"`             // at most
	Stream  bool           `json:"stream"`
	List    bool           `json:"list"`
	Params  map[string]any `json:"params"`
}

// outcome is what came of it.
type outcome struct {
	Failures   []failure           `json:"failures"`
	Completion *sdk.ChatCompletion `json:"completion"`
	Models     []string            `json:"models"`
}

type failure struct {
	Name    string `json:"name"`
	Status  int    `json:"status"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// caller is one of the clients.
type caller struct {
	name string
	ask  func(t *testing.T, r request) outcome
}

// callers are the clients, each with its retries as they are.
var callers = []caller{{golang, askGo}, {node, askNode}}

const (
	golang = "openai-go"
	node   = "openai-npm"
)

func each(t *testing.T, test func(t *testing.T, c caller)) {
	t.Helper()
	for _, c := range callers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			test(t, c)
		})
	}
}

// asking is a request with one message.
func asking(model, text string) map[string]any {
	return map[string]any{
		"model": model, "messages": []any{map[string]any{"role": "user", "content": text}},
	}
}

func askGo(t *testing.T, r request) outcome {
	t.Helper()
	options := []option.RequestOption{option.WithBaseURL(r.Base), option.WithAPIKey("dev-key")}
	if r.Timeout > 0 {
		options = append(options, option.WithRequestTimeout(time.Duration(r.Timeout)*time.Millisecond))
	}
	if r.Key != "" {
		options = append(options, option.WithHeader("Idempotency-Key", r.Key))
	}
	client := sdk.NewClient(options...)
	var params sdk.ChatCompletionNewParams
	raw, err := json.Marshal(r.Params)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &params))
	var all outcome
	for call := 0; call < r.Calls && all.Completion == nil && all.Models == nil; call++ {
		if err := askGoOnce(t, client, r, params, &all); err != nil {
			all.Failures = append(all.Failures, failureOf(err))
		}
	}
	return all
}

func askGoOnce(t *testing.T, client sdk.Client, r request, params sdk.ChatCompletionNewParams, all *outcome) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	switch {
	case r.List:
		page, err := client.Models.List(ctx)
		if err != nil {
			return err
		}
		for _, model := range page.Data {
			all.Models = append(all.Models, model.ID)
		}
	case r.Stream:
		stream := client.Chat.Completions.NewStreaming(ctx, params)
		defer func() { _ = stream.Close() }()
		var whole sdk.ChatCompletionAccumulator
		for stream.Next() {
			require.True(t, whole.AddChunk(stream.Current()))
		}
		if err := stream.Err(); err != nil {
			return err
		}
		all.Completion = &whole.ChatCompletion
	default:
		completion, err := client.Chat.Completions.New(ctx, params)
		if err != nil {
			return err
		}
		all.Completion = completion
	}
	return nil
}

func failureOf(err error) failure {
	var said *sdk.Error
	switch {
	case errors.As(err, &said):
		return failure{Status: said.StatusCode, Code: said.Code, Message: said.Message}
	case errors.Is(err, context.DeadlineExceeded):
		return failure{Name: "timeout", Message: err.Error()}
	}
	return failure{Message: err.Error()}
}

func askNode(t *testing.T, r request) outcome {
	t.Helper()
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, "node", program.Script(t, "door.mjs"), string(raw))
	command.Stderr = os.Stderr
	out, err := command.Output()
	require.NoError(t, err, "%s", out)
	var all outcome
	require.NoError(t, json.Unmarshal(out, &all), "%s", out)
	for i := range all.Failures {
		if all.Failures[i].Name == "APIConnectionTimeoutError" {
			all.Failures[i].Name = "timeout"
		}
	}
	return all
}
