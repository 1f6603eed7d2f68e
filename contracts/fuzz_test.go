package contracts_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"onejob/contracts"
	"onejob/providers"
)

// Whatever a file holds, it is a contract or a list of problems with lines; and a
// contract can be exported, rendered and applied.
func FuzzParse(f *testing.F) {
	f.Add(summary)
	f.Add(valid)
	for _, s := range []string{
		"", "a: b", "prompts: [a]\ntests: [{assert: [{type: cel, value: 'output == 1'}]}]\nrequire: [schema]",
		strings.Replace(valid, "type: contains, value: a", "type: assert-set, threshold: 0.5, assert: [{type: is-json, weight: 2}, {type: is-refusal}]", 1),
		strings.Replace(valid, "value: a", "value: file://w.txt, transform: 'output.a[0]'", 1),
		strings.Replace(valid, "type: contains, value: a", "type: is-json, value: {$ref: '#'}", 1),
		"&a [*a]", "{a: {a: {a: {}}}}", "- !!x\n--- b", "prompts:\n\t- x", "\xff", "<<: *a", "a: 1\na: 2",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := contracts.Parse("c.yaml", []byte(text), fstest.MapFS{"w.txt": {Data: []byte("a")}})
		if err != nil {
			var problems contracts.Problems
			require.ErrorAs(t, err, &problems)
			require.NotEmpty(t, problems)
			for _, p := range problems {
				require.Positive(t, p.Line)
				require.NotContains(t, p.String(), "\n")
			}
			return
		}
		_, err = c.Export()
		require.NoError(t, err)
		values := map[string]string{}
		for _, name := range c.Prompt.Variables() {
			values[name] = "a"
		}
		input, err := json.Marshal(values)
		require.NoError(t, err)
		_, err = c.Render(input)
		require.NoError(t, err)
		for _, content := range []string{"", "a", "{}", `{"a":["a"]}`} {
			o := c.Judge(providers.Success(result(t, content, "stop"), nil))
			require.Contains(t, []providers.Kind{providers.Succeeded, providers.Failed}, o.Kind)
		}
	})
}

// Whatever an answer holds, it is judged, and its words are not in the verdict.
func FuzzJudge(f *testing.F) {
	for _, s := range []string{"", "{}", `{"summary":"a"}`, "```json\n{}\n```", "``` ` ```", "{\"a\":1}}", "[1e400]", "I can't", "{{", "\u2028", `{"` + "\xff" + `":1}`} {
		f.Add(s, "stop")
	}
	c, err := contracts.Parse("c.yaml", []byte(summary), nil)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, content, finish string) {
		o := c.Judge(providers.Success(result(t, content, finish), nil))
		if o.Kind == providers.Succeeded {
			var got struct {
				Output struct{ Summary string }
			}
			require.NoError(t, json.Unmarshal(o.Result, &got))
			require.NotEmpty(t, got.Output.Summary)
			return
		}
		require.Equal(t, providers.Failed, o.Kind)
		require.Contains(t, contracts.Reasons(), o.Reason)
	})
}
