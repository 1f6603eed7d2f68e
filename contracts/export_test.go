package contracts_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/contracts"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestExport(t *testing.T) {
	t.Parallel()
	c, err := contracts.Parse("c.yaml", []byte(`
description: d
prompts: ["Say {{text}}"]
options: {temperature: 0, top_k: 5}
defaultTest:
  assert:
    - {type: is-json, value: {$ref: '#/$defs/o', $defs: {o: {type: object}}}}
    - {type: cel, value: "size(content) > 1"}
    - {type: assert-set, threshold: 0.5, assert: [{type: contains, value: a}, {type: not-contains, value: b, weight: 2}]}
tests:
  - description: one
    vars: {text: b, times: 2, loud: true}
    assert:
      - {type: equals, value: "{{text}}", transform: 'output.a[0].b'}
      - {type: contains, value: file://word.txt}
      - {type: is-json, value: file://schema.json}
      - {type: assert-set, assert: [{type: cel, value: "vars.times == 2"}]}
      - {type: is-json, value: {type: object, unevaluatedProperties: false}}
      - {type: contains-any, value: [a, file://word.txt]}
      - {type: latency, threshold: 2000}
rendering: {canary: true}
`), os.DirFS("testdata"))
	require.NoError(t, err)
	got, err := c.Export(
		contracts.Target{Provider: "gpt", Type: "openai", Model: "m-1", BaseURL: "http://127.0.0.1:1/v1", Options: map[string]any{"max_tokens": 9, "stream": false}},
		contracts.Target{Provider: "laser", Type: "http"},
	)
	require.NoError(t, err)
	golden := filepath.Join("testdata", "export.golden.yaml")
	if *update {
		require.NoError(t, os.WriteFile(golden, got, 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}
