package contracts_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/contracts"
	"onejob/providers"
)

// Every way structured output goes wrong is a definite failure of its own class.
func TestJudge_FaultsOfStructuredOutput(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ content, finish, reason string }{
		"fenced":                          {"```json\n{\"summary\":\"a\"}\n```", "stop", contracts.ReasonFenced},
		"fenced without a language":       {"```\n{\"summary\":\"a\"}\n```", "stop", contracts.ReasonFenced},
		"fenced in one line":              {"```{\"summary\":\"a\"}```", "stop", contracts.ReasonFenced},
		"fenced, with words around":       {"Here you are:\n```json\n{\"summary\":\"a\"}\n```\nAnything else?", "stop", contracts.ReasonFenced},
		"a fence that is not closed":      {"```json\n{\"summary\":\"a\"", "stop", contracts.ReasonFenced},
		"prose":                           {"The press jammed twice.", "stop", contracts.ReasonProse},
		"prose before":                    {"Sure! {\"summary\":\"a\"}", "stop", contracts.ReasonProse},
		"prose after":                     {"{\"summary\":\"a\"} I hope this helps.", "stop", contracts.ReasonProse},
		"two values":                      {"{\"summary\":\"a\"}{\"summary\":\"b\"}", "stop", contracts.ReasonProse},
		"a fence without JSON":            {"```\nls -l\n```", "stop", contracts.ReasonProse},
		"cut, and says so":                {"{\"summary\":\"The press", "length", contracts.ReasonTruncated},
		"cut, in Anthropic's words":       {"{\"summary\":\"The press", "max_tokens", contracts.ReasonTruncated},
		"cut where it happens to be JSON": {"{\"summary\":\"a\"}", "length", contracts.ReasonTruncated},
		"cut, and says stop":              {"{\"summary\":\"The press", "stop", contracts.ReasonTruncated},
		"cut after a comma":               {"{\"summary\":\"a\",", "stop", contracts.ReasonTruncated},
		"refused by a filter":             {"", "content_filter", contracts.ReasonRefused},
		"refused, in Anthropic's words":   {"", "refusal", contracts.ReasonRefused},
		"refused in words":                {"I'm sorry, but I can't help with that.", "stop", contracts.ReasonRefused},
		"refused with a curly apostrophe": {"I’m sorry, I can’t assist with that request.", "stop", contracts.ReasonRefused},
		"refused plainly":                 {"I cannot summarise this text.", "stop", contracts.ReasonRefused},
		"an extra key":                    {"{\"summary\":\"a\",\"confidence\":0.9}", "stop", contracts.ReasonExtraKeys},
		"a list for the object":           {"[{\"summary\":\"a\"}]", "stop", contracts.ReasonWrongType},
		"a number for the string":         {"{\"summary\":5}", "stop", contracts.ReasonWrongType},
		"null for the string":             {"{\"summary\":null}", "stop", contracts.ReasonWrongType},
		"JSON in a string":                {"\"{\\\"summary\\\":\\\"a\\\"}\"", "stop", contracts.ReasonWrongType},
		"a wrong type and an extra key":   {"{\"summary\":5,\"confidence\":0.9}", "stop", contracts.ReasonWrongType},
		"a missing key":                   {"{}", "stop", contracts.ReasonViolation},
		"another rule of the schema":      {"{\"summary\":\"\"}", "stop", contracts.ReasonViolation},
		"empty":                           {"", "stop", contracts.ReasonNotJSON},
		"blank":                           {" \n", "stop", contracts.ReasonNotJSON},
		"a trailing comma":                {"{\"summary\":\"a\",}", "stop", contracts.ReasonNotJSON},
		"single quotes":                   {"{'summary':'a'}", "stop", contracts.ReasonNotJSON},
		"a name twice":                    {"{\"summary\":\"a\",\"summary\":\"b\"}", "stop", contracts.ReasonNotJSON},
		"a byte-order mark":               {"\ufeff{\"summary\":\"a\"}", "stop", contracts.ReasonNotJSON},
		"a number out of range":           {"{\"summary\":1e999}", "stop", contracts.ReasonNotJSON},
		"a number of many digits":         {"{\"summary\":" + strings.Repeat("9", 1000) + "}", "stop", contracts.ReasonNotJSON},
		"very deep":                       {strings.Repeat("[", 20000) + strings.Repeat("]", 20000), "stop", contracts.ReasonNotJSON},
		"tools called":                    {"", "tool_calls", contracts.ReasonEmpty},
		"no finish reason":                {"{\"summary\":\"a\"}", "", contracts.ReasonUnfinished},
		"a finish reason nobody knows":    {"{\"summary\":\"a\"}", "abort", contracts.ReasonUnfinished},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			usage := json.RawMessage(`{"prompt_tokens":9}`)
			o := parse(t, summary).Judge(providers.Success(result(t, test.content, test.finish), usage))
			require.Equal(t, providers.Failed, o.Kind)
			require.Equal(t, test.reason, o.Reason, o.Message)
			require.Equal(t, providers.EffectDone, o.Effect)
			require.Equal(t, usage, o.Usage)
			require.False(t, o.Retryable)
			require.Nil(t, o.Result)
			require.NotEmpty(t, o.Message)
			require.NotContains(t, o.Message, "press", "the message quotes the answer")
			require.NotContains(t, o.Message, "confidence", "the message quotes the answer")
		})
	}
}

func TestJudge_OutputIsTheParsedJSON(t *testing.T) {
	t.Parallel()
	c := ruled(t, `[{type: is-json}]`)
	o := c.Judge(providers.Success(result(t, ` {"n": 9007199254740993, "x": 1.50, "s": "<é>"} `, "end_turn"), nil))
	require.Equal(t, providers.Succeeded, o.Kind, o.Message)
	require.Equal(t, `{"content":" {\"n\": 9007199254740993, \"x\": 1.50, \"s\": \"<é>\"} ",`+
		`"output":{"n":9007199254740993,"x":1.50,"s":"<é>"},"finish_reason":"stop","usage":{"cost":0.002,"prompt_tokens":9},`+
		`"model":"m","response":{"id":"r"}}`, strings.Replace(string(o.Result), "end_turn", "stop", 1))
}

func TestJudge_LeavesAlone(t *testing.T) {
	t.Parallel()
	c := parse(t, summary)
	for _, kind := range []providers.Kind{providers.Failed, providers.Unknown, providers.Accepted} {
		o := providers.Outcome{Kind: kind, Reason: "busy", Retryable: true, Handle: "h", Result: json.RawMessage("1")}
		require.Equal(t, o, c.Judge(o))
	}
	text := providers.Success(result(t, "a b", "stop"), nil)
	require.Equal(t, text, ruled(t, `[{type: contains, value: b}]`).Judge(text), "no JSON is asked for")
}

// A result that is no AI provider's is the output itself.
func TestJudge_AnyJSON(t *testing.T) {
	t.Parallel()
	c := ruled(t, `[{type: is-json, value: {type: object, required: [pages], properties: {pages: {type: integer}}}},
		{type: cel, value: "output.pages > 1"}]`)
	good := providers.Success(json.RawMessage(`{"pages":2}`), nil)
	require.Equal(t, good, c.Judge(good))
	require.Equal(t, contracts.ReasonWrongType, c.Judge(providers.Success(json.RawMessage(`{"pages":"2"}`), nil)).Reason)
	require.Equal(t, contracts.ReasonViolation, c.Judge(providers.Success(json.RawMessage(`{"pages":1}`), nil)).Reason)
	require.Equal(t, contracts.ReasonWrongType, c.Judge(providers.Success(json.RawMessage(`"done"`), nil)).Reason)
}

func TestJudge_TooLarge(t *testing.T) {
	t.Parallel()
	content := `"` + strings.Repeat("a", providers.MaxResult/2+1) + `"`
	o := ruled(t, `[{type: is-json}]`).Judge(providers.Success(result(t, content, "stop"), nil))
	require.Equal(t, providers.ReasonResultTooLarge, o.Reason)
}

func TestRetryable(t *testing.T) {
	t.Parallel()
	for _, reason := range contracts.Reasons() {
		require.False(t, contracts.Retryable(reason, "external"), reason)
		require.Equal(t, reason != contracts.ReasonRefused, contracts.Retryable(reason, "none"), reason)
		require.Equal(t, contracts.Retryable(reason, "none"), contracts.Violation{Reason: reason}.Retryable("none"))
	}
}

// What may be kept with a job says nothing of the answer.
func TestCheck_MessagesQuoteNothing(t *testing.T) {
	t.Parallel()
	c := ruled(t, `[{type: is-json, value: {type: object, additionalProperties: {type: string}, properties: {known: {type: integer}}}},
		{type: contains, value: wanted}, {type: cel, value: "int(output.hidden) > 1"}, {type: equals, value: {a: 1}}]`)
	violations := c.Check(result(t, `{"known":"secret","hidden":5,"secret2":"secret"}`, "stop"))
	require.Len(t, violations, 3)
	for _, v := range violations {
		require.NotContains(t, v.String(), "secret")
	}
	require.Contains(t, violations[0].Message, "/known is of type string, want integer")
	require.Contains(t, violations[0].Message, "/* is of type number, want string")
}
