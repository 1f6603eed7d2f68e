package contracts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"onejob/contracts"
)

func TestParse_Design(t *testing.T) {
	t.Parallel()
	c := parse(t, summary)
	require.Equal(t, "one-sentence summaries", c.Description)
	require.Equal(t, []string{"text"}, c.Prompt.Variables())
	require.Equal(t, map[string]any{"temperature": 0}, c.Options)
	require.Equal(t, contracts.Properties(), c.Required())
	require.Len(t, c.Default, 1)
	require.Len(t, c.Tests, 1)
	require.True(t, c.Rendering.Canary)
	require.Equal(t, &contracts.PromptTokens{Vars: map[string]any{"text": "Hello."}, Min: 10, Max: 80}, c.Rendering.PromptTokens)
	require.True(t, c.AsksForJSON())
}

// valid is a contract that each mistake is made in, by replacing a line of it.
const valid = `prompts: ["Say {{text}}"]
require: [schema]
defaultTest:
  assert:
    - {type: contains, value: a}
tests:
  - vars: {text: b}
`

func TestParse_Mistakes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ from, to, want string }{
		"an unknown key":            {"require:", "requires:", `c.yaml:2: requires: unknown key; known are defaultTest`},
		"no prompt":                 {"prompts: [\"Say {{text}}\"]\n", "", `c.yaml:1: prompts: missing`},
		"two prompts":               {`["Say {{text}}"]`, `["Say {{text}}", "b"]`, `c.yaml:1: prompts: has 2 prompts; a contract is about exactly one`},
		"no prompts":                {`["Say {{text}}"]`, `[]`, `c.yaml:1: prompts: is an empty list`},
		"messages as a prompt":      {`["Say {{text}}"]`, `['[{"role":"user","content":"a"}]']`, `is a list of messages; the prompt is the text of one user message`},
		"YAML messages as a prompt": {`["Say {{text}}"]`, "[\"- role: user\\n  content: a\"]", `is a list of messages`},
		"a filter":                  {"{{text}}", "{{text | upper}}", `c.yaml:1: prompts[0]: not a template of plain variables`},
		"an expression":             {"{{text}}", "{{a.b}}", `want {{name}}, without filters, dots or expressions`},
		"a tag":                     {"{{text}}", "{% if a %}b{% endif %}", `is a tag or comment of nunjucks`},
		"a comment":                 {"{{text}}", "{# a #}", `is a tag or comment of nunjucks`},
		"an open brace":             {"{{text}}", "{{text", `{{ without }}`},
		"a reserved variable":       {"{{text}}", "{{messages}}", `a variable cannot be called messages`},
		"an unknown type":           {"type: contains", "type: contain", `c.yaml:5: defaultTest.assert[0].type: "contain" is not a type of assertion that is known here; known are assert-set, cel`},
		"a type of promptfoo's":     {"type: contains", "type: javascript", `"javascript" is not a type of assertion that is known here`},
		"no type":                   {"type: contains, ", "", `c.yaml:5: defaultTest.assert[0].type: missing`},
		"not-cel":                   {"type: contains", "type: not-cel", `"not-cel" is not a type of assertion; write !(…)`},
		"not-not":                   {"type: contains", "type: not-not-contains", `is not a type of assertion that is known`},
		"not-latency":               {"type: contains, value: a", "type: not-latency, threshold: 1", `"not-latency" is not a type`},
		"weight 0":                  {"value: a", "value: a, weight: 0", `c.yaml:5: defaultTest.assert[0].weight: a weight of 0 is met by anything or by nothing`},
		"a weight of no effect":     {"value: a", "value: a, weight: 2", `weight: has no effect here`},
		"threshold 0":               {"type: contains, value: a", "type: latency, threshold: 0", `threshold: a threshold of 0 is met by anything or by nothing; want a number above 0`},
		"a negative threshold":      {"type: contains, value: a", "type: cost, threshold: -1", `a threshold of -1 is met`},
		"a threshold of no effect":  {"value: a", "value: a, threshold: 1", `threshold: contains takes no threshold`},
		"no threshold":              {"type: contains, value: a", "type: cost", `threshold: missing; cost needs an upper bound`},
		"a set's threshold over 1":  {"type: contains, value: a", "type: assert-set, threshold: 2, assert: [{type: contains, value: a}]", `threshold: is more than 1`},
		"a set's threshold 0":       {"type: contains, value: a", "type: assert-set, threshold: 0, assert: [{type: contains, value: a}]", `a threshold of 0`},
		"an empty set":              {"type: contains, value: a", "type: assert-set, assert: []", `assert: is an empty list`},
		"a set without assertions":  {"type: contains, value: a", "type: assert-set", `assert: missing`},
		"a set in a set":            {"type: contains, value: a", "type: assert-set, assert: [{type: assert-set, assert: [{type: contains, value: a}]}]", `an assert-set cannot be in another`},
		"a mistake in a set":        {"type: contains, value: a", "type: assert-set, assert: [{type: contains}]", `defaultTest.assert[0].assert[0].value: missing`},
		"a set's transform":         {"type: contains, value: a", "type: assert-set, transform: output.a, assert: [{type: contains, value: a}]", `an assert-set takes no transform`},
		"assertions in no set":      {"value: a", "value: a, assert: [{type: contains, value: a}]", `contains takes no assertions`},
		"no value":                  {", value: a", "", `defaultTest.assert[0].value: missing; contains needs a value`},
		"an empty value":            {"value: a", "value: ''", `value: is empty`},
		"a number for text":         {"value: a", "value: 5", `value: is a number; want text: put it in quotes`},
		"a value too many":          {"type: contains", "type: is-refusal", `is-refusal takes no value`},
		"a list too short":          {"type: contains, value: a", "type: contains-any, value: []", `value: is an empty list`},
		"text for a list":           {"type: contains,", "type: contains-all,", `value: is text; want a list`},
		"no RE2":                    {"type: contains, value: a", "type: regex, value: '(?=a)'", `not an RE2 expression`},
		"a template in a regex":     {"type: contains, value: a", "type: regex, value: '{{text}}'", `variables are not filled in here`},
		"an unknown finish reason":  {"type: contains, value: a", "type: finish-reason, value: end_turn", `known are stop, length, content_filter, tool_calls`},
		"a key of promptfoo's":      {"value: a", "value: a, metric: m", `defaultTest.assert[0].metric: unknown key`},
		"an empty list of rules":    {"    - {type: contains, value: a}", "    []", `defaultTest.assert: is an empty list, which would pass whatever comes`},
		"a program":                 {"value: a", "value: a, transform: output.trim()", `transform: "output.trim()" is no path; other programs are not run`},
		"a transform of cel":        {"type: contains, value: a", "type: cel, value: 'true', transform: output.a", `cel takes no transform`},
		"a transform of the finish": {"type: contains, value: a", "type: finish-reason, value: stop, transform: output.a", `finish-reason takes no transform`},
		"CEL that is none":          {"type: contains, value: a", "type: cel, value: 'size('", `not a CEL rule: `},
		"CEL that is no truth":      {"type: contains, value: a", "type: cel, value: 'size(content)'", `it is a int, not true or false`},
		"CEL of unknown names":      {"type: contains, value: a", "type: cel, value: 'answer == 1'", `undeclared reference to 'answer'`},
		"a schema that is text":     {"type: contains,", "type: is-json,", `value: is text; want a JSON Schema`},
		"a schema that is none":     {"type: contains, value: a", "type: is-json, value: {type: objekt}", `not a JSON Schema`},
		"a misspelt keyword":        {"type: contains, value: a", "type: is-json, value: {properties: {a: {typ: string}}}", `"typ" is no keyword of JSON Schema (at /properties/a/), so it would check nothing`},
		"a schema from elsewhere":   {"type: contains, value: a", "type: is-json, value: {$ref: 'https://example.com/a.json'}", `only references inside it (#/$defs/…) are followed`},
		"a schema from a file":      {"type: contains, value: a", "type: is-json, value: {$ref: 'file:///etc/passwd'}", `only references inside it`},
		"a file outside":            {"type: contains, value: a", "type: is-json, value: file://../secret.json", `leaves the folder of the contract`},
		"an absolute file":          {"value: a", "value: file:///etc/passwd", `leaves the folder of the contract`},
		"no such file":              {"value: a", "value: file://none.txt", `value: "file://none.txt": there is no such file`},
		"an empty file":             {"value: a", "value: file://empty.txt", `it is empty`},
		"a file that is no schema":  {"type: contains, value: a", "type: is-json, value: file://bad.json", `file://bad.json:1: not YAML`},
		"no tests":                  {"tests:\n  - vars: {text: b}\n", "", `tests: missing; without a test nothing can be proven`},
		"a test without assertions": {"defaultTest:\n  assert:\n    - {type: contains, value: a}\n", "", `tests[0]: has no assertions, so it would pass whatever comes`},
		"an empty assert of a test": {"{text: b}", "{text: b}\n    assert: []", `tests[0].assert: is an empty list`},
		"a variable missing":        {"vars: {text: b}", "description: d", `tests[0].vars: has no text; give every variable a value`},
		"a variable not used":       {"{text: b}", "{text: b, other: c}", `tests[0].vars.other: is not used`},
		"a value's variable":        {"value: a", "value: '{{expected}}'", `tests[0].vars: has no expected`},
		"several tests in one":      {"{text: b}", "{text: [a, b]}", `tests[0].vars.text: is a list; want text`},
		"a template in a variable":  {"{text: b}", "{text: '{{b}}'}", `a value is text, not a template`},
		"a number with a point":     {"{text: b}", "{text: 1.0}", `may be written in more than one way; put it in quotes`},
		"an unknown property":       {"[schema]", "[schema, speed]", `require[1]: "speed" is no property`},
		"a property twice":          {"[schema]", "[schema, schema]", `require[1]: schema is here twice`},
		"require nothing":           {"[schema]", "[]", `require: is an empty list`},
		"no temperature to prove":   {"[schema]", "[temperature]", `options.temperature: missing: temperature is to be proven`},
		"no rendering to prove":     {"[schema]", "[rendering]", `rendering: missing: rendering is to be proven`},
		"all of it by default":      {"require: [schema]\n", "", `options.temperature: missing`},
		"exempt without a reason":   {"[schema]", "[schema]\nexempt: {schema: ' '}", `exempt.schema: has no reason`},
		"exempt from nothing":       {"[schema]", "[schema]\nexempt: {temperature: because}", `there is nothing to be exempt from`},
		"exempt from what is none":  {"[schema]", "[schema]\nexempt: {speed: because}", `"speed" is no property`},
		"a model as an option":      {"[schema]", "[schema]\noptions: {model: m}", `options.model: model cannot be an option of a contract`},
		"a temperature in words":    {"[schema]", "[schema]\noptions: {temperature: low}", `options.temperature: is no number of at least 0`},
		"options that are a list":   {"[schema]", "[schema]\noptions: [a]", `options: is a list; want a mapping`},
		"a range turned round":      {"[schema]", "[schema]\nrendering: {prompt-tokens: {vars: {text: a}, min: 9, max: 8}}", `8 is less than min (9)`},
		"half a range":              {"[schema]", "[schema]\nrendering: {prompt-tokens: {vars: {text: a}, min: 9}}", `rendering.prompt-tokens.max: missing`},
		"a pinned prompt's hole":    {"[schema]", "[schema]\nrendering: {prompt-tokens: {min: 1, max: 8}}", `rendering.prompt-tokens.vars: has no text`},
		"a canary in words":         {"[schema]", "[schema]\nrendering: {canary: 'yes'}", `want true or false`},
		"a key twice":               {"require: [schema]", "require: [schema]\nrequire: [schema]", `c.yaml:3: require: this key is here twice; keep one of it and of line 2`},
		"an alias":                  {"value: a}", "value: &x a}\n    - {type: contains, value: *x}", `aliases are not read`},
		"a merge key":               {"value: a}", "value: a, <<: {a: b}}", `a key that is not plain text`},
		"a tag of YAML":             {"value: a}", "value: !!binary aGk=}", `the tag "!!binary" is not known`},
		"two documents":             {"tests:", "---\ntests:", `a second document`},
		"no YAML":                   {"require: [schema]", "require: [schema", `not YAML: `},
		"no mapping":                {valid, "[]", `is a list; want a mapping`},
		"nothing":                   {valid, "", `the file is empty`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(valid, test.from, test.to, 1)
			require.NotEqual(t, valid, text, "the mistake was not made")
			c, err := contracts.Parse("c.yaml", []byte(text), fstest.MapFS{
				"empty.txt": {}, "bad.json": {Data: []byte("{")},
			})
			require.Nil(t, c)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestParse_AllAtOnceInOrder(t *testing.T) {
	t.Parallel()
	_, err := contracts.Parse("c.yaml", []byte(`
prompts: ["{{a | b}}"]
defaultTest:
  assert:
    - {type: nope}
    - {type: latency, threshold: 0}
tests: []
`), nil)
	var problems contracts.Problems
	require.ErrorAs(t, err, &problems)
	var lines []int
	for _, p := range problems {
		lines = append(lines, p.Line)
	}
	require.Equal(t, []int{1, 1, 2, 5, 6, 7}, lines, err.Error())
}

func TestLoad_FilesOfItsFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inner := filepath.Join(dir, "contracts")
	require.NoError(t, os.MkdirAll(filepath.Join(inner, "schemas"), 0o755))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(inner, name), []byte(text), 0o600))
	}
	write("c.yaml", `
prompts: ["file://prompt.txt"]
require: [schema]
defaultTest: {assert: [{type: is-json, value: file://schemas/s.yaml}, {type: not-contains, value: file://./word.txt}]}
tests: [{vars: {text: file://word.txt}}]
`)
	write("prompt.txt", "Say {{text}}")
	write("word.txt", "press")
	write("schemas/s.yaml", "type: object\nrequired: [a]\n")
	c, err := contracts.Load(filepath.Join(inner, "c.yaml"))
	require.NoError(t, err)
	require.Equal(t, "Say {{text}}", c.Prompt.String())
	require.Equal(t, "press", c.Tests[0].Vars["text"])
	require.Empty(t, c.Check(result(t, `{"a":1}`, "stop")))
	require.Equal(t, []string{contracts.ReasonViolation}, reasons(c.Check(result(t, `{}`, "stop"))))
	require.Equal(t, []string{contracts.ReasonViolation}, reasons(c.Check(result(t, `{"a":"press"}`, "stop"))))

	// A link does not lead out of the folder either.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret.txt"), []byte("s"), 0o600))
	require.NoError(t, os.Remove(filepath.Join(inner, "word.txt")))
	require.NoError(t, os.Symlink(filepath.Join(dir, "secret.txt"), filepath.Join(inner, "word.txt")))
	_, err = contracts.Load(filepath.Join(inner, "c.yaml"))
	require.ErrorContains(t, err, "it cannot be opened")

	_, err = contracts.Load(filepath.Join(dir, "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// The hash is of what the contract says, with the files it names.
func TestHash(t *testing.T) {
	t.Parallel()
	files := func(word string) fstest.MapFS { return fstest.MapFS{"w.txt": {Data: []byte(word)}} }
	hash := func(text, word string) string {
		c, err := contracts.Parse("c.yaml", []byte(text), files(word))
		require.NoError(t, err)
		return c.Hash()
	}
	text := strings.Replace(valid, "value: a", "value: file://w.txt", 1)
	require.Equal(t, hash(text, "a"), hash("# a comment\n\n"+strings.Replace(text, "[schema]", "\n  - schema", 1), "a"))
	seen := map[string]bool{hash(text, "a"): true}
	for _, other := range []string{
		hash(text, "b"), hash(valid, "a"),
		hash(strings.Replace(text, "Say", "Tell", 1), "a"),
		hash(strings.Replace(text, "{text: b}", "{text: c}", 1), "a"),
		hash(strings.Replace(text, "type: contains", "type: icontains", 1), "a"),
	} {
		require.False(t, seen[other], "two contracts have one hash")
		seen[other] = true
	}
}
