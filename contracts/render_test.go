package contracts_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/contracts"
)

func TestRender(t *testing.T) {
	t.Parallel()
	c := parse(t, `
prompts: ["Say {{a}} and {{b}}."]
require: [schema]
tests: [{vars: {a: x, b: y}, assert: [{type: contains, value: x}]}]
`)
	for name, test := range map[string]struct{ input, want, err string }{
		"the variables":     {`{"a":"<1>","b":"{{a}}"}`, `{"messages":[{"role":"user","content":"Say <1> and {{a}}."}]}`, ""},
		"numbers as sent":   {`{"a":9007199254740993,"b":1.50}`, `{"messages":[{"role":"user","content":"Say 9007199254740993 and 1.50."}]}`, ""},
		"truth and nothing": {`{"a":true,"b":""}`, `{"messages":[{"role":"user","content":"Say true and ."}]}`, ""},
		"a script":          {`{"a":"1","b":"2","simulate":{"x":{}}}`, `{"messages":[{"role":"user","content":"Say 1 and 2."}],"simulate":{"x":{}}}`, ""},
		"messages":          {`{"messages":[{"role":"system","content":"s"}],"other":1}`, `{"messages":[{"role":"system","content":"s"}],"other":1}`, ""},
		"one missing":       {`{"a":"1"}`, "", "input does not fit the contract's prompt: missing: b; want messages, or a, b"},
		"all wrong":         {`{"a":{"x":1},"d":1,"c":2}`, "", "missing: b; not known: c, d; neither text, a number, true nor false: a; want"},
		"null":              {`{"a":null,"b":[1]}`, "", "neither text, a number, true nor false: a, b"},
		"a list":            {`[1]`, "", "want an object with messages, or a, b"},
		"null itself":       {`null`, "", "want an object"},
		"no JSON":           {`{`, "", "want an object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.Render(json.RawMessage(test.input))
			if test.err != "" {
				var wrong *contracts.InputError
				require.ErrorAs(t, err, &wrong)
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, string(got))
		})
	}
}

func TestParams(t *testing.T) {
	t.Parallel()
	c := parse(t, `
prompts: [a]
require: [schema]
options: {temperature: 0.5, top_p: 1, seed: 9007199254740993}
tests: [{assert: [{type: contains, value: x}]}]
`)
	got, err := c.Params(nil)
	require.NoError(t, err)
	require.Equal(t, `{"seed":9007199254740993,"temperature":0.5,"top_p":1}`, string(got))
	got, err = c.Params(json.RawMessage(`{"temperature":0.25,"max_tokens":5}`))
	require.NoError(t, err)
	require.Equal(t, `{"max_tokens":5,"seed":9007199254740993,"temperature":0.25,"top_p":1}`, string(got))
	for _, params := range []string{`{"temperature":0.6}`, `{"temperature":"0"}`, `{"temperature":null}`, `[]`} {
		_, err = c.Params(json.RawMessage(params))
		require.Error(t, err, params)
	}

	target := contracts.Target{Options: map[string]any{"max_tokens": 100, "top_p": 0.1}}
	for params, bound := range map[string]bool{
		``: true, `{}`: true, `null`: true, `{"temperature":0.5}`: true, `{"temperature":5e-1,"max_tokens":100}`: true, `{"top_p":1.0}`: true,
		`{"temperature":0.4}`: false, `{"top_p":0.1}`: false, `{"max_tokens":99}`: false, `{"other":1}`: false, `[1]`: false,
	} {
		require.Equal(t, bound, c.Bound(target, json.RawMessage(params)), params)
	}
}
