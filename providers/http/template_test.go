package httpprovider

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/providers"
	"onejob/providers/providertest"
)

func TestTemplate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body any
		want string
	}{
		"all":           {map[string]any{"a": "{{input}}", "b": "{{params}}", "c": "{{attempt}}", "d": "{{job}}", "e": "{{callback_url}}"}, `{"a":{"page":9007199254740993,"html":"<b>"},"b":{"copies":2},"c":"job_1-a2","d":"job_1","e":""}`},
		"parts":         {map[string]any{"a": "{{input.page}}", "b": "{{ params./copies }}"}, `{"a":9007199254740993,"b":2}`},
		"nothing there": {map[string]any{"a": "{{input.nowhere.at.all}}"}, `{"a":null}`},
		"within a text": {map[string]any{"a": "Page {{input.page}} of {{input.html}}, {{attempt}}"}, `{"a":"Page 9007199254740993 of <b>, job_1-a2"}`},
		"nested":        {[]any{1, true, nil, 2.5, map[string]any{"x": []any{"{{input.html}}", "{"}}}, `[1,true,null,2.5,{"x":["<b>","{"]}]`},
		"one value":     {"{{input}}", `{"page":9007199254740993,"html":"<b>"}`},
		"no escape":     {map[string]any{"a": `{{input.html}}"}`}, `{"a":"<b>\"}"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := testConfig("http://h", nil)
			config.Body = c.body
			p, err := New(config)
			require.NoError(t, err)
			got, err := p.(*provider).body(newCall())
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
		})
	}
}

// A value of the job is never read as a placeholder again.
func TestTemplateFillsOnce(t *testing.T) {
	t.Parallel()
	body, err := newTemplate(map[string]any{"a": "x {{input.a}}", "b": "{{input.a}}"})
	require.NoError(t, err)
	got, err := body.fill(map[string]json.RawMessage{"input": json.RawMessage(`{"a":"{{job}}"}`), "job": json.RawMessage(`"j"`)})
	require.NoError(t, err)
	require.Equal(t, `{"a":"x {{job}}","b":"{{job}}"}`, string(got))
}

func TestTemplateRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{{inptu}}", "{{}}", "{{input.}}", "{{job.id}}", "{{attempt.x}}", "{{range .}}", "{{.input}}"} {
		config := testConfig("http://h", nil)
		config.Body = map[string]any{"deep": []any{"x " + text}}
		_, err := New(config)
		require.ErrorContains(t, err, "is unknown", text)
	}
}

// What does not fit into a text is no call.
func TestTemplateOfAJobThatDoesNotFit(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"x {{input}}", "x {{input.nowhere}}", "x {{params}}"} {
		config := testConfig("http://127.0.0.1:1", transport(t))
		config.Body = map[string]any{"a": text}
		p, err := New(config)
		require.NoError(t, err)
		o := p.Execute(t.Context(), newCall())
		require.Equal(t, providers.ReasonRequestInvalid, o.Reason, text)
		require.Equal(t, providers.EffectNone, o.Effect)
	}
}

func TestInputThatIsNoJSON(t *testing.T) {
	t.Parallel()
	for _, body := range []any{nil, map[string]any{"a": "{{input}}"}} {
		config := testConfig("http://127.0.0.1:1", transport(t))
		config.Body = body
		p, err := New(config)
		require.NoError(t, err)
		call := newCall()
		call.Input = json.RawMessage(`{oops`)
		require.Equal(t, providers.ReasonRequestInvalid, p.Execute(t.Context(), call).Reason)
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status            int
		body              string
		resultAt, errorAt string
		kind              providers.Kind
		reason            string
		says              string // the result or, within the message, the error
	}{
		{200, `{"data":{"pages":[{"n":9007199254740993}]}}`, "data.pages.0", "", providers.Succeeded, "", `{"n":9007199254740993}`},
		{200, `{"data":{"a/b":null}}`, "/data/a~1b", "", providers.Succeeded, "", `null`},
		{200, `{"dat":1}`, "data", "", providers.Unknown, providers.ReasonAnswerUnreadable, "result_path"},
		{200, `{"data":1,"fault":"jam"}`, "data", "fault", providers.Failed, providers.ReasonProviderError, "jam"},
		{200, `{"data":1,"fault":{"message":"jam","code":"J1"}}`, "data", "fault", providers.Failed, providers.ReasonProviderError, "J1: jam"},
		{200, `{"data":1,"fault":["jam"]}`, "data", "fault", providers.Failed, providers.ReasonProviderError, `["jam"]`},
		{200, `{"data":1,"fault":null}`, "data", "fault", providers.Succeeded, "", `1`},
		{200, `{"data":1,"fault":{ }}`, "data", "fault", providers.Succeeded, "", `1`},
		{200, `{"data":1,"fault":false}`, "data", "fault", providers.Succeeded, "", `1`},
		{500, `{"fault":"jam"}`, "", "fault", providers.Failed, providers.ReasonProviderError, "jam"},
		{500, `{"fault":""}`, "", "fault", providers.Unknown, providers.ReasonGatewayAnswer, ""},
		{500, `{"error":"jam"}`, "", "fault", providers.Failed, providers.ReasonProviderError, "jam"},
		{422, `{"fault":"jam"}`, "", "fault", providers.Failed, providers.ReasonRejected, "jam"},
		{502, `{"fault":"jam"}`, "", "fault", providers.Unknown, providers.ReasonGatewayAnswer, "jam"},
	} {
		server := providertest.NewServer(t, func(x *providertest.Exchange) bool { return x.Reply(c.status, c.body) })
		config := testConfig(server.URL, transport(t))
		config.ResultPath, config.ErrorPath = c.resultAt, c.errorAt
		p, err := New(config)
		require.NoError(t, err)
		o := p.Execute(t.Context(), newCall())
		require.Equal(t, c.kind, o.Kind, "%s: %s", c.body, o.Message)
		require.Equal(t, c.reason, o.Reason, c.body)
		if c.kind == providers.Succeeded {
			require.Equal(t, c.says, string(o.Result))
		} else {
			require.Contains(t, o.Message, c.says)
		}
	}
}
