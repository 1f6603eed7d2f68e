package contracts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/contracts"
)

func TestTemplate(t *testing.T) {
	t.Parallel()
	tmpl, err := contracts.ParseTemplate("{{ b }}-{{a}}{{a}} {x} {\"k\": 1} }} {")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, tmpl.Variables())
	require.Equal(t, "<&>-{{b}}{{b}} {x} {\"k\": 1} }} {", tmpl.Fill(map[string]string{"a": "{{b}}", "b": "<&>"}),
		"values are put in as they are, and are not filled in again")
	for _, bad := range []string{
		"{{}}", "{{ }}", "{{a b}}", "{{a|b}}", "{{a.b}}", "{{a[0]}}", "{{-a-}}", "{{1}}", "{{'a'}}", "{{a", "{{{a}}}",
		"{% raw %}", "{#", "{{é}}", "{{a\x00}}",
	} {
		_, err := contracts.ParseTemplate(bad)
		require.ErrorIs(t, err, contracts.ErrTemplate, bad)
	}
}

func FuzzParseTemplate(f *testing.F) {
	for _, s := range []string{"", "{{a}}", "a{{ b }}c", "{{", "}}", "{%", "{{a}}{{a", "{{{", "{", "\xff{{a}}"} {
		f.Add(s, "v")
	}
	f.Fuzz(func(t *testing.T, s, value string) {
		tmpl, err := contracts.ParseTemplate(s)
		if err != nil {
			require.ErrorIs(t, err, contracts.ErrTemplate)
			return
		}
		require.Equal(t, s, tmpl.String())
		values, own := map[string]string{}, map[string]string{}
		for _, name := range tmpl.Variables() {
			values[name], own[name] = value, "{{"+name+"}}"
		}
		if len(values) == 0 {
			require.Equal(t, s, tmpl.Fill(nil), "text without variables is itself")
			return
		}
		again, err := contracts.ParseTemplate(tmpl.Fill(own))
		require.NoError(t, err)
		require.Equal(t, tmpl.Fill(values), again.Fill(values), "a template filled with its own variables is the same one")
		if value != "" {
			require.Contains(t, tmpl.Fill(values), strings.Repeat(value, 1))
		}
	})
}
