package contracts_test

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"onejob/contracts"
	"onejob/providers"
)

// summary is the contract of design §8.
const summary = `
description: one-sentence summaries
prompts: ["Answer with JSON {\"summary\": string} and nothing else. Text: {{text}}"]
options: {temperature: 0}
require: [schema, temperature, rendering, round_trip]
defaultTest:
  assert:
    - {type: is-json, value: {type: object, required: [summary], additionalProperties: false,
       properties: {summary: {type: string, minLength: 1}}}}
tests:
  - vars: {text: "The press jammed twice on Monday."}
    assert: [{type: cel, value: "size(output.summary) < 200"}]
rendering: {canary: true, prompt-tokens: {vars: {text: "Hello."}, min: 10, max: 80}}
`

func parse(t testing.TB, text string) *contracts.Contract {
	t.Helper()
	c, err := contracts.Parse("c.yaml", []byte(text), nil)
	require.NoError(t, err)
	return c
}

// ruled is a contract whose output rules are the given ones, as YAML.
func ruled(t testing.TB, rules string) *contracts.Contract {
	t.Helper()
	c, err := contracts.Parse("c.yaml", []byte(`
prompts: ["{{text}}"]
require: [schema]
defaultTest: {assert: `+rules+`}
tests: [{vars: {text: a}}]
`), fstest.MapFS{"schema.json": {Data: []byte(`{"type":"object","required":["a"]}`)}, "word.txt": {Data: []byte("press")}})
	require.NoError(t, err)
	return c
}

// result is an AI provider's result with this content.
func result(t testing.TB, content, finish string) json.RawMessage {
	t.Helper()
	b, err := providers.Encode(map[string]any{
		"content": content, "finish_reason": finish, "usage": map[string]any{"prompt_tokens": 9, "cost": 0.002}, "model": "m",
		"response": map[string]any{"id": "r"},
	})
	require.NoError(t, err)
	return b
}

// reasons are the classes of violations, in their order.
func reasons(violations []contracts.Violation) []string {
	out := []string{}
	for _, v := range violations {
		out = append(out, v.Reason)
	}
	return out
}
