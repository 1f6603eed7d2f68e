package contracts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/contracts"
	"onejob/providers"
)

func verify(t testing.TB, c *contracts.Contract, target contracts.Target, runs int) *contracts.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	report, err := contracts.Verifier{Poll: time.Millisecond}.Run(ctx, c, target, runs, nil)
	require.NoError(t, err)
	return report
}

func printed(t testing.TB, r *contracts.Report) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.Write(&b))
	return b.String()
}

func TestVerify_Certifies(t *testing.T) {
	t.Parallel()
	c, server := parse(t, summary), serve(t, func(asked chat, _ *reply) {
		if string(asked.Body["temperature"]) != "0" || string(asked.Body["max_tokens"]) != "200" {
			t.Errorf("not the route's options: %s", asked.Body)
		}
	})
	target := target(t, server.URL)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var progress []contracts.Progress
	report, err := contracts.Verifier{Now: func() time.Time { return now }, Lifetime: time.Hour}.Run(
		t.Context(), c, target, 2, func(p contracts.Progress) { progress = append(progress, p) })
	require.NoError(t, err)
	require.Empty(t, report.Findings)
	require.False(t, report.Inconclusive)
	require.Nil(t, report.Breach(now))

	cert := report.Certificate
	require.NotNil(t, cert, printed(t, report))
	binding, err := contracts.Bind(target, c)
	require.NoError(t, err)
	require.NoError(t, cert.Valid(binding, now))
	require.Equal(t, now, cert.IssuedAt)
	require.Equal(t, now.Add(time.Hour), cert.ExpiresAt)
	require.Equal(t, c.Hash(), cert.ContractHash)
	require.Equal(t, contracts.Properties(), cert.Required)
	for _, p := range contracts.Properties() {
		require.True(t, cert.Proven(p), p)
	}
	require.Len(t, cert.AnswersSHA256, 64)

	// 2 runs of 1 test, 3 times temperature, the canary, the pinned prompt.
	require.Len(t, progress, 7)
	require.EqualValues(t, 7, server.calls.Load())
	for i, p := range progress {
		require.Equal(t, i+1, p.Call)
		require.Equal(t, 7, p.Of)
		require.True(t, p.OK, p.What)
	}
	require.Contains(t, printed(t, report), "Certified until 2026-03-01T13:00:00Z: cert_")
}

// Every fault, and what it leaves unproven.
func TestVerify_Faults(t *testing.T) {
	t.Parallel()
	task := func(asked chat) bool { return strings.HasPrefix(asked.last(), "Answer with JSON") }
	says := func(content, finish string) func(chat, *reply) {
		return func(asked chat, a *reply) {
			if task(asked) {
				a.content, a.finish = content, finish
			}
		}
	}
	for name, test := range map[string]struct {
		change   func(chat, *reply)
		unproven contracts.Property
		want     string // in the table
	}{
		"fenced":        {says("```json\n{\"summary\":\"a\"}\n```", "stop"), contracts.PropertySchema, "output_fenced"},
		"prose":         {says("The press jammed.", "stop"), contracts.PropertySchema, "output_prose"},
		"truncated":     {says(`{"summary":"The`, "length"), contracts.PropertySchema, "output_truncated"},
		"extra keys":    {says(`{"summary":"a","confidence":1}`, "stop"), contracts.PropertySchema, "(too many: confidence)"},
		"a wrong type":  {says(`["a"]`, "stop"), contracts.PropertySchema, "is of type array, want object"},
		"a cel rule":    {says(`{"summary":"`+strings.Repeat("a", 200)+`"}`, "stop"), contracts.PropertySchema, "cel (line 12)"},
		"refused":       {says(`I'm sorry, I can't do that.`, "stop"), contracts.PropertySchema, "refused"},
		"a filter":      {says("", "content_filter"), contracts.PropertyRoundTrip, "refused"},
		"rejected":      {func(_ chat, a *reply) { a.status, a.content = 400, "no such model" }, contracts.PropertyRoundTrip, "no such model"},
		"no credential": {func(_ chat, a *reply) { a.status, a.content = 401, "no" }, contracts.PropertyRoundTrip, "unauthorized_at_provider"},
		"temperature dropped": {func(asked chat, a *reply) {
			if strings.HasPrefix(asked.last(), "Invent") {
				a.content = time.Now().String()
			}
		}, contracts.PropertyTemperature, "answers at temperature 0 differ"},
		"temperature ignored, and said": {func(_ chat, a *reply) { a.more = map[string]any{"temperature": 0.7} }, contracts.PropertyTemperature, "was made at temperature 0.7; 0 is allowed"},
		"temperature refused": {func(asked chat, a *reply) {
			if strings.HasPrefix(asked.last(), "Invent") {
				a.status, a.content = 400, "temperature does not support 0"
			}
		}, contracts.PropertyTemperature, "temperature does not support 0"},
		"system prompts ignored": {func(asked chat, a *reply) {
			if asked.Messages[0].Role == "system" {
				a.content = "I know of no code word."
			}
		}, contracts.PropertyRendering, "system prompts are ignored"},
		"another template":   {func(_ chat, a *reply) { a.tokens += 100 }, contracts.PropertyRendering, "the pinned prompt has 114 tokens, want 10 to 80"},
		"tokens not counted": {func(_ chat, a *reply) { a.tokens = 0 }, contracts.PropertyRendering, "does not say how many tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := verify(t, parse(t, summary), target(t, serve(t, test.change).URL), 1)
			require.Nil(t, report.Certificate)
			require.False(t, report.Inconclusive)
			table := printed(t, report)
			require.False(t, report.Proven(test.unproven), table)
			require.Contains(t, table, test.want)
			require.Contains(t, table, "Not certified")
			breach := report.Breach(time.Now())
			require.NotNil(t, breach)
			require.Contains(t, breach.Why, "not proven")
		})
	}
}

// One bad answer in many is a broken contract, and the table shows it.
func TestVerify_OneOfManyRuns(t *testing.T) {
	t.Parallel()
	var server *scripted
	server = serve(t, func(_ chat, a *reply) {
		if server.calls.Load() == 3 {
			a.content = "```\n{\"summary\":\"\x1b[2J\"}\n```"
		}
	})
	report := verify(t, parse(t, summary), target(t, server.URL), 5)
	require.Nil(t, report.Certificate)
	require.Len(t, report.Findings, 1)
	require.Equal(t, "run 3, test 1", report.Findings[0].What)
	require.True(t, report.Proven(contracts.PropertyRoundTrip))
	require.Contains(t, printed(t, report), `1 of 1 tests × 5 runs broke an assertion`)
	require.NotContains(t, printed(t, report), "\x1b", "the terminal obeys no answer")
}

// A provider that gives no answer proves nothing and disproves nothing.
func TestVerify_Inconclusive(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"busy": 429, "overloaded": 503, "a gateway": 504} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := verify(t, parse(t, summary), target(t, serve(t, func(_ chat, a *reply) { a.status = status }).URL), 1)
			require.Nil(t, report.Certificate)
			require.True(t, report.Inconclusive, printed(t, report))
			require.Nil(t, report.Breach(time.Now()))
			require.Contains(t, printed(t, report), "Inconclusive")
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		require.True(t, verify(t, parse(t, summary), target(t, "http://127.0.0.1:1"), 1).Inconclusive)
	})
	t.Run("busy after a broken answer", func(t *testing.T) {
		t.Parallel()
		var server *scripted
		server = serve(t, func(_ chat, a *reply) {
			if a.content = "prose"; server.calls.Load() > 1 {
				a.status = 429
			}
		})
		require.False(t, verify(t, parse(t, summary), target(t, server.URL), 1).Inconclusive)
	})
}

// A silent provider holds a verification for its timeout, not for its deadline.
func TestVerify_Silent(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	server := serve(t, func(chat, *reply) { <-done })
	defer close(done)
	target := target(t, server.URL)
	target.Timeout, target.Deadline = 50*time.Millisecond, time.Hour
	c := parse(t, "prompts: [a]\nrequire: [schema, round_trip]\ntests: [{assert: [{type: contains, value: x}]}]")
	require.True(t, verify(t, c, target, 1).Inconclusive)
}

func TestVerify_Cancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := serve(t, func(chat, *reply) { cancel() })
	_, err := contracts.Verifier{}.Run(ctx, parse(t, summary), target(t, server.URL), 100, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, server.calls.Load(), int64(10))
	_, err = contracts.Verifier{}.Run(t.Context(), parse(t, summary), target(t, server.URL), 0, nil)
	require.ErrorIs(t, err, contracts.ErrRuns)
}

// What is exempt is not called for, and the certificate says why.
func TestVerify_Exempt(t *testing.T) {
	t.Parallel()
	server := serve(t, nil)
	c := parse(t, strings.Replace(summary, "require: [schema, temperature, rendering, round_trip]",
		"exempt: {temperature: the model takes none, rendering: checked by hand}", 1))
	report := verify(t, c, target(t, server.URL), 1)
	require.NotNil(t, report.Certificate)
	require.EqualValues(t, 1, server.calls.Load())
	require.Equal(t, "the model takes none", report.Certificate.Exempt[contracts.PropertyTemperature])
	require.False(t, report.Certificate.Proven(contracts.PropertyTemperature))
	require.Contains(t, printed(t, report), "exempt  the model takes none")
}

// Cost and latency are judged by verify, for it has seen the call.
func TestVerify_CostAndLatency(t *testing.T) {
	t.Parallel()
	for rule, held := range map[string]bool{
		"{type: cost, threshold: 0.002}": true, "{type: cost, threshold: 0.001}": false,
		"{type: latency, threshold: 60000}": true, "{type: latency, threshold: 0.000001}": false,
	} {
		c := parse(t, "prompts: [a]\nrequire: [schema]\ntests: [{assert: ["+rule+"]}]")
		report := verify(t, c, target(t, serve(t, nil).URL), 1)
		require.Equal(t, held, report.Certificate != nil, "%s: %s", rule, printed(t, report))
	}
}

// The variables of a test fill in what its assertions say.
func TestVerify_VarsInAssertions(t *testing.T) {
	t.Parallel()
	c := parse(t, `
prompts: ["Say {{word}}"]
require: [schema]
defaultTest: {assert: [{type: contains, value: "<{{word}}>"}, {type: cel, value: "content.contains(vars.word) && vars.times == 2"}]}
tests: [{vars: {word: a, times: 2}}, {vars: {word: b, times: 2}}]
`)
	echo := func(asked chat, a *reply) { a.content = "<" + strings.TrimPrefix(asked.last(), "Say ") + ">" }
	require.NotNil(t, verify(t, c, target(t, serve(t, echo).URL), 1).Certificate)
	report := verify(t, c, target(t, serve(t, func(_ chat, a *reply) { a.content = "<a>" }).URL), 1)
	require.Len(t, report.Findings, 2)
}

func TestVerify_TemperatureSaid(t *testing.T) {
	t.Parallel()
	c := parse(t, strings.Replace(summary, "options: {temperature: 0}", "options: {temperature: 0.3}", 1))
	report := verify(t, c, target(t, serve(t, func(_ chat, a *reply) { a.more = map[string]any{"temperature": 0.3} }).URL), 1)
	require.NotNil(t, report.Certificate, printed(t, report))
	require.Contains(t, printed(t, report), "3 answers say they were made at no more than 0.3")
}

// A provider that is no AI's is sent the variables, and asked until it ends.
func TestVerify_OtherTypes(t *testing.T) {
	t.Parallel()
	c := parse(t, `
prompts: ["{{pages}}{{colour}}"]
exempt: {temperature: prints, rendering: prints}
defaultTest: {assert: [{type: is-json, value: {type: object, required: [printed]}}, {type: cel, value: "output.printed == vars.pages"}]}
tests: [{vars: {pages: 2, colour: true}}]
`)
	p := &printer{}
	report := verify(t, c, contracts.Target{Route: "print", Provider: "laser", Type: "http", Call: p}, 2)
	require.NotNil(t, report.Certificate, printed(t, report))
	require.Equal(t, `{"colour":true,"pages":2}`, string(p.input))

	require.True(t, verify(t, c, contracts.Target{Route: "print", Provider: "laser", Call: untraceable{}}, 1).Inconclusive)
	require.True(t, verify(t, c, contracts.Target{Route: "print", Provider: "laser", Call: panics{}}, 1).Inconclusive)

	asks := parse(t, strings.Replace(summary, "temperature: 0", "temperature: 1", 1))
	report = verify(t, asks, contracts.Target{Route: "print", Provider: "laser", Call: p}, 1)
	require.Nil(t, report.Certificate)
	require.Contains(t, printed(t, report), "a provider of this type takes no temperature")
}

// printer accepts, and has printed when it is asked for the third time.
type printer struct {
	input json.RawMessage
	asked int
}

func (p *printer) Execute(_ context.Context, call *providers.Call) providers.Outcome {
	p.input, p.asked = call.Input, 0
	return providers.TakenOn(call.AttemptID)
}

func (p *printer) Lookup(_ context.Context, ref providers.Ref) providers.Outcome {
	if p.asked++; p.asked < 3 {
		return providers.TakenOn(ref.Handle)
	}
	return providers.Success(json.RawMessage(`{"printed":2}`), nil)
}

type untraceable struct{}

func (untraceable) Execute(context.Context, *providers.Call) providers.Outcome {
	return providers.TakenOn("")
}

type panics struct{}

func (panics) Execute(_ context.Context, call *providers.Call) providers.Outcome {
	if call.Wire.Leaving() == nil {
		panic("no")
	}
	return providers.Outcome{}
}

func TestTokenizer(t *testing.T) {
	t.Parallel()
	counts := func(asked []byte) int {
		var body struct {
			Messages []struct{ Role, Content string }
		}
		_ = json.Unmarshal(asked, &body)
		return chat{Messages: body.Messages}.tokens()
	}
	vllm := func(extra int) func(http.ResponseWriter, string, []byte) {
		return func(w http.ResponseWriter, path string, body []byte) {
			if path != "/tokenize" {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"count": counts(body) + extra, "max_model_len": 4096, "tokens": []int{}})
		}
	}
	llama := func(w http.ResponseWriter, path string, body []byte) {
		var asked struct {
			Content string
			Special bool `json:"add_special"`
		}
		_ = json.Unmarshal(body, &asked)
		switch {
		case path == "/apply-template":
			_ = json.NewEncoder(w).Encode(map[string]any{"prompt": strings.Repeat("t ", counts(body)-1)})
		case asked.Content == "":
			_, _ = w.Write([]byte(`{"tokens":[]}`))
		default:
			n := len(strings.Fields(asked.Content))
			if asked.Special {
				n++
			}
			tokens := make([]int, n)
			_ = json.NewEncoder(w).Encode(map[string]any{"tokens": tokens})
		}
	}
	for name, test := range map[string]struct {
		other  func(http.ResponseWriter, string, []byte)
		change func(chat, *reply)
		proven bool
		want   string
	}{
		"none":                   {nil, nil, true, "the pinned prompt has 14 tokens"},
		"vLLM":                   {vllm(0), nil, true, "as the server's tokenizer says too"},
		"llama.cpp":              {llama, nil, true, "as the server's tokenizer says too"},
		"vLLM, usage says none":  {vllm(0), func(_ chat, a *reply) { a.tokens = 0 }, true, "14 tokens"},
		"a doubled BOS":          {vllm(0), func(_ chat, a *reply) { a.tokens++ }, false, "usage says 15, the server's own tokenizer 14"},
		"out of the range":       {vllm(100), func(_ chat, a *reply) { a.tokens = 0 }, false, "114 tokens, want 10 to 80"},
		"broken":                 {func(w http.ResponseWriter, _ string, _ []byte) { w.WriteHeader(http.StatusServiceUnavailable) }, nil, false, "POST /tokenize: HTTP 503"},
		"something else":         {func(w http.ResponseWriter, _ string, _ []byte) { _, _ = w.Write([]byte("<html>")) }, nil, true, "14 tokens"},
		"a template and no more": {func(w http.ResponseWriter, _ string, _ []byte) { _, _ = w.Write([]byte(`{"prompt":"a"}`)) }, nil, true, "14 tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, test.change)
			server.other = test.other
			target := target(t, server.URL)
			transport := &http.Transport{}
			t.Cleanup(transport.CloseIdleConnections)
			target.Tokens = contracts.Tokenizer{
				BaseURL: target.BaseURL, Model: target.Model, APIKey: "k", Headers: map[string]string{"X-A": "b"},
				Client: &http.Client{Transport: transport},
			}
			report := verify(t, parse(t, summary), target, 1)
			require.Equal(t, test.proven, report.Proven(contracts.PropertyRendering), printed(t, report))
			require.Contains(t, printed(t, report), test.want)
		})
	}
}
