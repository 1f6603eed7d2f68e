package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ body, want string }{
		"order of names":        {`{"b":2,"a":1}`, `{"a":1,"b":2}`},
		"order in depth":        {`[{"b":{"d":1,"c":2},"a":[]}]`, `[{"a":[],"b":{"c":2,"d":1}}]`},
		"order is by UTF-16":    {`{"\ufb33":1,"😂":2,"€":3,"ö":4,"1":5,"\r":6}`, "{\"\\r\":6,\"1\":5,\"ö\":4,\"€\":3,\"😂\":2,\"\ufb33\":1}"}, // RFC 8785 §3.2.3
		"order of arrays stays": {`[3, 1, 2]`, `[3,1,2]`},
		"white space":           {" {\n\t\"a\" : [ 1 , 2 ] }\r\n", `{"a":[1,2]}`},
		"escapes":               {`"\u0061\/\u000a\u20ac\u001f\ud83d\ude02<"`, "\"a/\\n€\\u001f😂<\""},
		"numbers":               {`[1.0, 1e0, -0, 1e2, 9007199254740993, 0.10]`, `[1,1,0,100,9007199254740993,0.1]`},
		"literals":              {`[true,false,null,"",{},[]]`, `[true,false,null,"",{},[]]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := canonical([]byte(tt.body))
			require.Nil(t, err)
			require.Equal(t, tt.want, string(got))
			again, err := canonical(got)
			require.Nil(t, err)
			require.Equal(t, tt.want, string(again), "a canonical form is its own")
		})
	}
}

func TestCanonicalRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body    string
		reason  string
		offset  int64
		pointer string
	}{
		"nothing":             {body: "", reason: "too soon"},
		"white space only":    {body: " \n", reason: "too soon", offset: 2},
		"cut":                 {body: `{"a":[1`, reason: "EOF", offset: 7},
		"duplicate name":      {body: `{"a":1,"b":{"c":1,"c":2}}`, reason: `"c" occurs twice`, offset: 18, pointer: "/b/c"},
		"escaped duplicate":   {body: `{"a":1,"\u0061":2}`, reason: `"a" occurs twice`, offset: 7, pointer: "/a"},
		"bad UTF-8":           {body: "{\"a\":\"\xff\"}", reason: "UTF-8", offset: 6, pointer: "/a"},
		"overlong UTF-8":      {body: "[\"\xc0\xaf\"]", reason: "UTF-8", offset: 2, pointer: "/0"},
		"surrogate in UTF-8":  {body: "[\"\xed\xa0\x80\"]", reason: "UTF-8", offset: 2, pointer: "/0"},
		"lone high surrogate": {body: `["\ud800"]`, reason: "surrogate", offset: 2, pointer: "/0"},
		"lone low surrogate":  {body: `["\udc00x"]`, reason: "surrogate", offset: 2, pointer: "/0"},
		"byte-order mark":     {body: "\xef\xbb\xbf{}", reason: "byte-order mark"},
		"trailing value":      {body: `{} {}`, reason: "goes on"},
		"trailing brace":      {body: `{}}`, offset: 2},
		"trailing NUL":        {body: "{}\x00", offset: 2},
		"number too large":    {body: `{"a":[1e400]}`, reason: "out of range", offset: 6, pointer: "/a/0"},
		"number too small":    {body: `[1,-1e-400]`, reason: "out of range", offset: 3, pointer: "/1"},
		"comment":             {body: `{/**/}`, offset: 1},
		"trailing comma":      {body: `[1,]`, offset: 2},
		"NaN":                 {body: `NaN`},
		"leading zero":        {body: `01`, offset: 1},
		"single quotes":       {body: `{'a':1}`, offset: 1},
		"control character":   {body: "\"a\nb\"", offset: 2},
		"too deep":            {body: strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), reason: "nest deeper", offset: maxDepth},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := canonical([]byte(tt.body))
			require.NotNil(t, err)
			require.Contains(t, err.Reason, tt.reason)
			if tt.offset > 0 {
				require.Equal(t, tt.offset, err.Offset)
			}
			if tt.pointer != "" {
				require.Equal(t, tt.pointer, err.Pointer)
			}
		})
	}
}

func TestCanonicalDepthLimit(t *testing.T) {
	t.Parallel()
	_, err := canonical([]byte(strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)))
	require.Nil(t, err)
}

func TestJSONErrorShowsTheLine(t *testing.T) {
	t.Parallel()
	body := []byte("{\n \"a\": 1,\n \"a\": 2\n}")
	_, err := canonical(body)
	require.NotNil(t, err)
	p := err.problem(body)
	require.Equal(t, &Position{Offset: 12, Line: 3, Column: 2, Pointer: "/a"}, p.Position)
	require.Contains(t, p.Detail, "line 3, column 2")
	require.NotContains(t, p.Detail, "jsontext")
	_, marshal := json.Marshal(p)
	require.NoError(t, marshal)
}

// TestEachMember: members are the object's own bytes and no more than that, so that
// whoever adds to one does not write into the next.
func TestEachMember(t *testing.T) {
	t.Parallel()
	object := `{"a" : [1, 2] ,"\u0062":"x" , "c":{"d":null}}`
	body, got := []byte(object), map[string]string{}
	for name, value := range eachMember(body) {
		got[name] = string(value)
		_ = append(value, '!')
	}
	require.Equal(t, map[string]string{"a": "[1, 2]", "b": `"x"`, "c": `{"d":null}`}, got)
	require.Equal(t, object, string(body))
}

// TestCanonicalPlain does as much as the long way, and leaves to it what it cannot.
func TestCanonicalPlain(t *testing.T) {
	t.Parallel()
	for body, plain := range map[string]bool{
		`{"b":[1,-2,0,123456789012345],"a":"1.5e3 \\\" [{"}`: true,
		`true`:                true,
		`-0`:                  false,
		`[1.0]`:               false,
		`[1e5]`:               false,
		`{"a":2E1}`:           false,
		`1234567890123456`:    false,
		`[-1234567890123456]`: false,
		`01`:                  false,
		`-`:                   false,
		`{"a":1,"a":1}`:       false,
		`{} {}`:               false,
		`["\ud800"]`:          false,
		"[\"\xff\"]":          false,
		`"\`:                  false,
		``:                    false,
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth):     true,
		strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1): false,
	} {
		got, ok := canonicalPlain([]byte(body))
		require.Equal(t, plain, ok, body)
		if ok {
			want, bad := canonicalAny([]byte(body))
			require.Nil(t, bad, body)
			require.Equal(t, string(want), string(got), body)
		}
	}
}
