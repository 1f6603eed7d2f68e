package contracts_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/contracts"
)

// assertions are answers to every type of assertion, met and not met.
var assertions = []struct {
	assertion string // without braces, its type first
	met       []string
	unmet     []string
}{
	{`type: is-json`, []string{`{}`, ` [1] `, `"a"`, `5`, `null`}, []string{`a`, `{`, `{}{}`}},
	{`type: is-json, value: {type: object, required: [a]}`, []string{`{"a":1}`}, []string{`{}`, `[]`, `a`}},
	{`type: is-json, value: file://schema.json`, []string{`{"a":1}`}, []string{`{}`}},
	{`type: is-json, value: {type: string, format: email}`, []string{`"a@b.de"`}, []string{`"a"`}},
	{`type: is-json, value: {$ref: '#/$defs/n', $defs: {n: {type: integer}}}`, []string{`1`, `1.0`}, []string{`1.5`, `"1"`}},
	{`type: is-json, value: {type: object, properties: {a: {type: string}}, unevaluatedProperties: false}`, []string{`{"a":"x"}`}, []string{`{"b":1}`}},
	{`type: contains-json`, []string{`a {"b": 1} c`, `{}`, `{ {"a":1}`, "```json\n{}\n```"}, []string{`a`, `{`, `[1]`, `{'a': 1}`, `{"a": 1`}},
	{`type: contains-json, value: {required: [b]}`, []string{`{"a":1} or {"b":1}`}, []string{`{"a":1}`, `b`}},
	{`type: equals, value: "a b"`, []string{`a b`}, []string{`a b `, `A b`, ``}},
	{`type: equals, value: {a: 1, b: [2]}`, []string{`{"b":[2.0],"a":1e0}`}, []string{`{"a":1}`, `{"a":1,"b":[2],"c":3}`, `a`, `{"a":1,"b":["2"]}`}},
	{`type: contains, value: press`, []string{`the press jammed`}, []string{`Press`, ``}},
	{`type: contains, value: file://word.txt`, []string{`the press jammed`}, []string{`a`}},
	{`type: icontains, value: PreSS`, []string{`the press jammed`, `PRESS`}, []string{`pres`}},
	{`type: contains-all, value: [a, b]`, []string{`b a`}, []string{`a`, `b`, ``}},
	{`type: contains-any, value: [a, b]`, []string{`xa`, `b`}, []string{`c`, ``}},
	{`type: starts-with, value: "The "`, []string{`The press`}, []string{` The press`, `the press`}},
	{`type: regex, value: '^\d{3}$'`, []string{`123`}, []string{`1234`, `a`}},
	{`type: is-refusal`, []string{`I'm sorry, but no.`, `I cannot help with that`, `Well, as an AI model I`, ``}, []string{`The press jammed.`, `{"a":"b"}`}},
	{`type: contains, value: x, transform: output.a`, []string{`{"a":"xyz"}`, `{"a":["x"]}`}, nil},
	{`type: equals, value: "5", transform: 'JSON.parse(output).a[1].b'`, []string{`{"a":[0,{"b":5}]}`, `{"a":[0,{"b":"5"}]}`}, []string{`{"a":[0,{"b":6}]}`}},
	{`type: is-json, value: {type: array}, transform: output.a`, []string{`{"a":[1]}`}, []string{`{"a":{}}`}},
}

// Every type of assertion, met and not met, and with not-.
func TestCheck_Assertions(t *testing.T) {
	t.Parallel()
	for _, test := range assertions {
		t.Run(test.assertion, func(t *testing.T) {
			t.Parallel()
			plain := ruled(t, "[{"+test.assertion+"}]")
			not := ruled(t, "[{"+strings.Replace(test.assertion, "type: ", "type: not-", 1)+"}]")
			for _, content := range test.met {
				require.Empty(t, plain.Check(result(t, content, "stop")), content)
				require.Len(t, not.Check(result(t, content, "stop")), 1, content)
			}
			for _, content := range test.unmet {
				require.Len(t, plain.Check(result(t, content, "stop")), 1, content)
				require.Empty(t, not.Check(result(t, content, "stop")), content)
			}
		})
	}
}

// What a transform does not find is a failure, also of what must not be there.
func TestCheck_TransformFindsNothing(t *testing.T) {
	t.Parallel()
	for _, content := range []string{`{}`, `{"a":null}`, `a`, `[]`, `{"a":{"b":1}}`} {
		for _, kind := range []string{"contains", "not-contains"} {
			c := ruled(t, "[{type: "+kind+", value: x, transform: 'output.a[0]'}]")
			require.Len(t, c.Check(result(t, content, "stop")), 1, content)
		}
	}
}

func TestCheck_CEL(t *testing.T) {
	t.Parallel()
	for rule, content := range map[string]string{
		`size(output.summary) < 200`:                         `{"summary":"a"}`,
		`output.n > 3 && output.n < 3.5`:                     `{"n":3.25}`,
		`output.big == 9007199254740993`:                     `{"big":9007199254740993}`,
		`output.items.all(i, i.price >= 0)`:                  `{"items":[{"price":0},{"price":1.5}]}`,
		`output.total == output.a + output.b`:                `{"total":3,"a":1,"b":2}`,
		`has(output.a) && !has(output.b)`:                    `{"a":1}`,
		`content.startsWith("{") && finish_reason == "stop"`: `{}`,
		`usage.prompt_tokens <= 9`:                           `{}`,
		`output.name.lowerAscii() == "press"`:                `{"name":"PRESS"}`,
		`output.list[0].matches("^[a-z]+$")`:                 `{"list":["abc"]}`,
	} {
		c := ruled(t, fmt.Sprintf("[{type: is-json}, {type: cel, value: %q}]", rule))
		require.Empty(t, c.Check(result(t, content, "stop")), rule)
	}
	text := ruled(t, `[{type: cel, value: "output == content && size(output) == 5"}]`)
	require.Empty(t, text.Check(result(t, "[1,2]", "stop")), "output is the text where no JSON is asked for")
	for rule, content := range map[string]string{
		`output.a > 1`:              `{"a":1}`, // false
		`output.b > 1`:              `{"a":1}`, // there is none
		`output.a > 2`:              `{"a":"x"}`,
		`output.a`:                  `{"a":1}`, // neither true nor false
		`int(output.a) == 1`:        `{"a":"x"}`,
		`output.a.all(x, x > 1)`:    `[]`,
		`output.exists(x, x == 99)`: `[1,2]`,
	} {
		c := ruled(t, fmt.Sprintf("[{type: is-json}, {type: cel, value: %q}]", rule))
		require.Equal(t, []string{contracts.ReasonViolation}, reasons(c.Check(result(t, content, "stop"))), rule)
	}
}

// A rule cannot be made to run for ever by the answer it is applied to.
func TestCheck_CELIsBounded(t *testing.T) {
	t.Parallel()
	c := ruled(t, `[{type: is-json}, {type: cel, value: "output.all(a, output.all(b, output.all(c, a + b + c >= 0)))"}]`)
	numbers, err := json.Marshal(make([]int, 5000))
	require.NoError(t, err)
	violations := c.Check(result(t, string(numbers), "stop"))
	require.Len(t, violations, 1)
	require.Contains(t, violations[0].Message, "rule ")
	require.Empty(t, c.Check(result(t, "[1,2,3]", "stop")))
}

func TestCheck_FinishReasons(t *testing.T) {
	t.Parallel()
	plain := ruled(t, `[{type: contains, value: a}]`)
	length := ruled(t, `[{type: finish-reason, value: length}]`)
	tools := ruled(t, `[{type: finish-reason, value: tool_calls}]`)
	not := ruled(t, `[{type: not-finish-reason, value: length}]`)
	for finish, want := range map[string][4]string{ // plain, length, tools, not
		"stop":           {"", contracts.ReasonViolation, contracts.ReasonViolation, ""},
		"end_turn":       {"", contracts.ReasonViolation, contracts.ReasonViolation, ""},
		"STOP":           {"", contracts.ReasonViolation, contracts.ReasonViolation, ""},
		"length":         {contracts.ReasonTruncated, "", contracts.ReasonViolation, contracts.ReasonTruncated},
		"max_tokens":     {contracts.ReasonTruncated, "", contracts.ReasonViolation, contracts.ReasonTruncated},
		"tool_calls":     {contracts.ReasonEmpty, contracts.ReasonViolation, "", contracts.ReasonEmpty},
		"content_filter": {contracts.ReasonRefused, contracts.ReasonRefused, contracts.ReasonRefused, contracts.ReasonRefused},
		"error":          {contracts.ReasonUnfinished, contracts.ReasonUnfinished, contracts.ReasonUnfinished, contracts.ReasonUnfinished},
	} {
		for i, c := range []*contracts.Contract{plain, length, tools, not} {
			wants := []string{}
			if want[i] != "" {
				wants = append(wants, want[i])
			}
			require.Equal(t, wants, reasons(c.Check(result(t, "a", finish))), "%s, contract %d", finish, i)
		}
	}
	none := json.RawMessage(`{"content":null,"finish_reason":"stop"}`)
	require.Equal(t, []string{contracts.ReasonEmpty}, reasons(plain.Check(none)))
}

// The finish reason is looked at before anything is parsed.
func TestCheck_FinishReasonFirst(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{contracts.ReasonTruncated}, reasons(parse(t, summary).Check(result(t, "Here: ```", "length"))))
}

func TestCheck_Sets(t *testing.T) {
	t.Parallel()
	all := ruled(t, `[{type: assert-set, assert: [{type: contains, value: a}, {type: contains, value: b}]}]`)
	half := ruled(t, `[{type: assert-set, threshold: 0.5, assert: [{type: contains, value: a}, {type: contains, value: b}]}]`)
	heavy := ruled(t, `[{type: assert-set, threshold: 0.6, assert: [{type: contains, value: a, weight: 2}, {type: contains, value: b}]}]`)
	for content, held := range map[string][3]bool{
		"ab": {true, true, true}, "a": {false, true, true}, "b": {false, true, false}, "c": {false, false, false},
	} {
		for i, c := range []*contracts.Contract{all, half, heavy} {
			require.Equal(t, held[i], len(c.Check(result(t, content, "stop"))) == 0, "%s, contract %d", content, i)
		}
	}
	require.Contains(t, all.Check(result(t, "a", "stop"))[0].String(), `assert-set (defaultTest.assert[0]): contains: contains "b" does not hold`)
}

// What needs the variables of the prompt, and what is about the call, is not an
// output rule: only verify can apply it.
func TestCheck_OutputRulesOnly(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		`{type: contains, value: "{{text}}"}`, `{type: contains-any, value: ["b", "{{text}}"]}`, `{type: cel, value: "content == vars.text"}`,
		`{type: latency, threshold: 1}`, `{type: cost, threshold: 0.001}`, `{type: assert-set, assert: [{type: latency, threshold: 1}]}`,
		`{type: assert-set, assert: [{type: contains, value: "{{text}}"}]}`,
	} {
		require.Empty(t, ruled(t, "["+rule+"]").Check(result(t, "x", "stop")), rule)
	}
}

func TestAsksForJSON(t *testing.T) {
	t.Parallel()
	for rules, asks := range map[string]bool{
		`[{type: is-json}]`: true, `[{type: not-is-json}]`: false, `[{type: is-json, transform: output.a}]`: false,
		`[{type: contains-json}]`: false, `[{type: assert-set, assert: [{type: is-json}]}]`: false,
	} {
		require.Equal(t, asks, ruled(t, rules).AsksForJSON(), rules)
	}
}
