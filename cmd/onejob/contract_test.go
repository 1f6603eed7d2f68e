package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

// TestContract_VerifyShowExport: a provider is certified, shown, exported; and one
// that breaks the contract is not certified, is told how, and loses what it had.
func TestContract_VerifyShowExport(t *testing.T) {
	t.Parallel()
	var prose atomic.Bool
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		content := `{"summary":"Two jams."}`
		if prose.Load() {
			content = "Sure! Two jams."
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"id": "c", "object": "chat.completion", "model": "m", "choices": []any{
			map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": content}},
		}})
	}))
	t.Cleanup(model.Close)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	contract := `
prompts: ["Summarise as JSON: {{text}}"]
require: [schema, round_trip]
defaultTest: {assert: [{type: is-json, value: {type: object, required: [summary]}}]}
tests: [{vars: {text: "It jammed."}, assert: [{type: icontains, value: jam}]}]
`
	write("summary.yaml", contract)
	store := redistest.Real(t).Options()
	path := write("onejob.yaml", fmt.Sprintf(`
redis: {url: "redis://%s/%d"}
providers: {gpt: {type: openai, base_url: %q, model: m, timeout: 5s, deadline: 10s}}
routes: {summary: {providers: [gpt], contract: summary.yaml}}
`, store.Addr, store.DB, model.URL+"/v1"))
	command := func(want int, args ...string) (string, string) {
		t.Helper()
		var out, errs bytes.Buffer
		code := run(append(append([]string{"contract"}, args...), "--config", path), &out, &errs)
		require.Equal(t, want, code, "%s%s", &out, &errs)
		return out.String(), errs.String()
	}

	out, _ := command(exitOK, "show")
	require.Contains(t, out, "missing")
	out, progress := command(exitOK, "verify", "--runs", "2")
	require.Contains(t, progress, "summary gpt  1/2")
	require.Contains(t, out, "cert_")
	out, _ = command(exitOK, "show", "--json")
	require.Contains(t, out, `"state":"valid"`)
	out, _ = command(exitOK, "export", "--route", "summary")
	require.Contains(t, out, "is-json")

	prose.Store(true)
	out, errs := command(exitFailed, "verify", "--route", "summary", "--provider", "gpt")
	require.Contains(t, out, "output_prose")
	require.Contains(t, out, "Sure! Two jams.", "the answer that failed is shown")
	require.Contains(t, errs, "not proven")
	out, _ = command(exitOK, "show")
	require.Contains(t, out, "broken")

	command(exitUsage, "verify", "--route", "unheard-of")
	command(exitUsage, "verify", "--runs", "0")
	command(exitUsage, "export")
	write("summary.yaml", contract+"\nnonsense: 1\n")
	_, errs = command(exitUsage, "show")
	require.Contains(t, errs, "nonsense")
}
