package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("k", maxKeyLength)
	for name, tt := range map[string]struct {
		header  []string
		want    string
		problem *problemType
	}{
		"bare token":              {header: []string{"k1"}, want: "k1"},
		"string is the same key":  {header: []string{`"k1"`}, want: "k1"},
		"case matters":            {header: []string{"K1"}, want: "K1"},
		"uuid":                    {header: []string{"8e03978e-40d5-43e8-bc93-6894a57f9324"}, want: "8e03978e-40d5-43e8-bc93-6894a57f9324"},
		"all a bare key may hold": {header: []string{"!#$%&'()*+-./:<=>?@[]^_`{|}~"}, want: "!#$%&'()*+-./:<=>?@[]^_`{|}~"},
		"escapes in a string":     {header: []string{`"a\"b\\c"`}, want: `a"b\c`},
		"comma in a string":       {header: []string{`"a,b;c"`}, want: "a,b;c"},
		"longest":                 {header: []string{longest}, want: longest},
		"longest string":          {header: []string{`"` + longest + `"`}, want: longest},

		"none":                       {problem: &problemKeyMissing},
		"empty header":               {header: []string{""}, problem: &problemKeyMissing},
		"empty string":               {header: []string{`""`}, problem: &problemKeyInvalid},
		"twice":                      {header: []string{"k1", "k2"}, problem: &problemKeyInvalid},
		"twice the same":             {header: []string{"k1", "k1"}, problem: &problemKeyInvalid},
		"twice, joined by a proxy":   {header: []string{"k1,k2"}, problem: &problemKeyInvalid},
		"two strings, joined":        {header: []string{`"k1", "k2"`}, problem: &problemKeyInvalid},
		"256 characters":             {header: []string{longest + "k"}, problem: &problemKeyInvalid},
		"string of 256 characters":   {header: []string{`"` + longest + `k"`}, problem: &problemKeyInvalid},
		"blank":                      {header: []string{"a b"}, problem: &problemKeyInvalid},
		"blank in a string":          {header: []string{`"a b"`}, problem: &problemKeyInvalid},
		"NUL":                        {header: []string{"a\x00b"}, problem: &problemKeyInvalid},
		"DEL":                        {header: []string{"a\x7fb"}, problem: &problemKeyInvalid},
		"tab":                        {header: []string{"a\tb"}, problem: &problemKeyInvalid},
		"UTF-8":                      {header: []string{"schlüssel"}, problem: &problemKeyInvalid},
		"Latin-1":                    {header: []string{"schl\xfcssel"}, problem: &problemKeyInvalid},
		"UTF-8 in a string":          {header: []string{`"schlüssel"`}, problem: &problemKeyInvalid},
		"parameter on a bare key":    {header: []string{"k1;a=b"}, problem: &problemKeyInvalid},
		"parameter on a string":      {header: []string{`"k1";a=b`}, problem: &problemKeyInvalid},
		"string without its end":     {header: []string{`"k1`}, problem: &problemKeyInvalid},
		"quote in the middle":        {header: []string{`k"1`}, problem: &problemKeyInvalid},
		"backslash in a bare key":    {header: []string{`k\1`}, problem: &problemKeyInvalid},
		"unknown escape in a string": {header: []string{`"k\n"`}, problem: &problemKeyInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			for _, value := range tt.header {
				h.Add(headerKey, value)
			}
			key, p := idempotencyKey(h)
			if tt.problem != nil {
				require.NotNil(t, p)
				require.Equal(t, tt.problem.Name, p.kind.Name)
				return
			}
			require.Nil(t, p)
			require.Equal(t, tt.want, key)
		})
	}
}
