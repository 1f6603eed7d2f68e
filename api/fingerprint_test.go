package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFingerprint(t *testing.T) {
	t.Parallel()
	base := `{"route":"print","input":{"a":1,"b":"x"},"metadata":{"m":"1"}}`
	for name, tt := range map[string]struct {
		body string
		same bool
	}{
		"other order":         {`{"metadata":{"m":"1"},"input":{"b":"x","a":1},"route":"print"}`, true},
		"white space":         {"{ \"route\": \"print\",\n\"input\": {\"a\":1, \"b\":\"x\"}, \"metadata\":{\"m\":\"1\"}}", true},
		"other spelling":      {`{"route":"print","input":{"a":1.0,"b":"\u0078"},"metadata":{"m":"1"}}`, true},
		"other value":         {`{"route":"print","input":{"a":2,"b":"x"},"metadata":{"m":"1"}}`, false},
		"other type":          {`{"route":"print","input":{"a":"1","b":"x"},"metadata":{"m":"1"}}`, false},
		"other name":          {`{"route":"print","input":{"A":1,"b":"x"},"metadata":{"m":"1"}}`, false},
		"one more":            {`{"route":"print","input":{"a":1,"b":"x","c":null},"metadata":{"m":"1"}}`, false},
		"other metadata":      {`{"route":"print","input":{"a":1,"b":"x"},"metadata":{"m":"2"}}`, false},
		"no metadata":         {`{"route":"print","input":{"a":1,"b":"x"}}`, false},
		"other route":         {`{"route":"scan","input":{"a":1,"b":"x"},"metadata":{"m":"1"}}`, false},
		"explicit provider":   {`{"route":"print","input":{"a":1,"b":"x"},"metadata":{"m":"1"},"provider":"inkjet"}`, false},
		"params":              {`{"route":"print","input":{"a":1,"b":"x"},"metadata":{"m":"1"},"params":{}}`, false},
		"start_within counts": {`{"route":"print","input":{"a":1,"b":"x"},"metadata":{"m":"1"},"start_within":"1m"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.same, fingerprintOf(t, base) == fingerprintOf(t, tt.body))
		})
	}
	require.Regexp(t, `^v1:[0-9A-Za-z_-]{43}$`, fingerprintOf(t, base))
}

// The rule is stored with every key for as long as the key lives: whoever
// changes it has to give it a new name.
func TestFingerprintV1StaysAsItIs(t *testing.T) {
	t.Parallel()
	require.Equal(t, "v1:78Ucsw8wg3eNZmYv0td_KSoW17M9jySJniU2gHgSQVQ",
		fingerprintOf(t, `{"route":"print","input":{"text":"grün 😂","n":9007199254740993,"f":1.50}}`))
}

func TestFingerprintTellsSpellingsOfTextApart(t *testing.T) {
	t.Parallel()
	nfc, nfd := "{\"route\":\"p\",\"input\":\"\u00e9\"}", "{\"route\":\"p\",\"input\":\"e\u0301\"}"
	require.NotEqual(t, fingerprintOf(t, nfc), fingerprintOf(t, nfd))
}

func TestFingerprintPartsDoNotRunTogether(t *testing.T) {
	t.Parallel()
	require.NotEqual(t, fingerprint("ab", []byte("c")), fingerprint("a", []byte("bc")))
}

func fingerprintOf(t *testing.T, body string) string {
	t.Helper()
	r, p := parseSubmit([]byte(body))
	require.Nil(t, p)
	return r.Fingerprint
}
