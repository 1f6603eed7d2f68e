package api

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzFingerprint holds canonical to its promises for any bytes at all: no
// panic, no huge output, a fixed point, blind to white space and order, and
// never blind to a changed value.
func FuzzFingerprint(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"b":2}`, `[1,1.0,1e0,-0,9007199254740993,1e-7,1e400]`, `"\ud83d\ude02\u00e9e\u0301"`,
		`{"a":{"a":{"a":[[],{}]}}}`, `{"a":1,"a":2}`, "\xef\xbb\xbf{}", `{} {}`, `["\ud800"]`,
		`[1234567890123456e293,9007199254740993.5,1.7976931348623157e308,5e-324]`,
		`{"€":1,"😂":2,"ö":3,"1":4,"\r":5}`, `null`, ``, `{"":""}`, "\"\\u0000\x7f\"",
		strings.Repeat("[", 101) + strings.Repeat("]", 101),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		form, bad := canonical(body)
		if plain, ok := canonicalPlain(body); ok {
			if long, refused := canonicalAny(body); refused != nil || !bytes.Equal(plain, long) {
				t.Fatalf("%q is %q plainly, and otherwise %q (%v)", body, plain, long, refused)
			}
		}
		if bad != nil {
			_, _ = json.Marshal(bad.problem(body))
			return
		}
		// The worst is an integer of 16 digits and an exponent: 309 digits.
		if len(form) > 16*len(body) {
			t.Fatalf("%d bytes became %d", len(body), len(form))
		}
		mustBe(t, form, form, "its own canonical form")
		mustBe(t, form, indented(t, body), "with white space")
		mustBe(t, form, reversed(t, form), "in another order")

		var was, is any
		if json.Unmarshal(body, &was) != nil || json.Unmarshal(form, &is) != nil {
			t.Fatalf("%q or its form %q is not JSON to encoding/json", body, form)
		}
		changed := append(append([]byte("["), form...), ",1]"...)
		if other, _ := canonical(changed); bytes.Equal(other, form) {
			t.Fatal("a value more makes no difference")
		}
		for _, i := range changeable(form) {
			if other, bad := canonical(change(form, i)); bad == nil && bytes.Equal(other, form) {
				t.Fatalf("%q does not show the change of %q", form, change(form, i))
			}
		}
	})
}

func mustBe(t *testing.T, form, body []byte, what string) {
	t.Helper()
	got, bad := canonical(body)
	if bad != nil || !bytes.Equal(got, form) {
		t.Fatalf("%s: %q of %q, want %q (%v)", what, got, body, form, bad)
	}
}

func indented(t *testing.T, body []byte) []byte {
	t.Helper()
	value := jsontext.Value(bytes.Clone(body))
	if err := value.Indent(); err != nil {
		t.Fatal(err)
	}
	return append([]byte(" \r\n"), value...)
}

// reversed writes form with the members of every object in reverse order.
func reversed(t *testing.T, form []byte) []byte {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewReader(form))
	out, err := reversedValue(dec)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func reversedValue(dec *jsontext.Decoder) ([]byte, error) {
	kind := dec.PeekKind()
	if kind != '{' && kind != '[' {
		return dec.ReadValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var parts [][]byte
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		var part []byte
		if kind == '{' {
			name, err := dec.ReadValue()
			if err != nil {
				return nil, err
			}
			part = append(bytes.Clone(name), ':')
		}
		value, err := reversedValue(dec)
		if err != nil {
			return nil, err
		}
		part = append(part, value...)
		if kind == '{' {
			parts = append([][]byte{part}, parts...)
		} else {
			parts = append(parts, part)
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	inner := bytes.Join(parts, []byte(","))
	if kind == '{' {
		return append(append([]byte("{"), inner...), '}'), nil
	}
	return append(append([]byte("["), inner...), ']'), nil
}

// changeable returns the places of letters in strings and of digits in strings
// and integers, the first few. Fractions are left out: they are doubles, and two
// of them may be the same one (RFC 8785).
func changeable(form []byte) []int {
	var places []int
	dec := jsontext.NewDecoder(bytes.NewReader(form))
	for len(places) < 20 {
		token, err := dec.ReadToken()
		if err != nil {
			break
		}
		text := token.String()
		if token.Kind() != '"' && (token.Kind() != '0' || bytes.ContainsAny([]byte(text), ".e")) {
			continue
		}
		end := int(dec.InputOffset())
		for i := end - len(text); i < end; i++ { // escapes are longer: their end will do
			if form[i] >= '0' && form[i] <= '9' || form[i] >= 'a' && form[i] <= 'z' {
				places = append(places, i)
			}
		}
	}
	return places
}

// change turns one digit or letter of form into its neighbour.
func change(form []byte, place int) []byte {
	out := bytes.Clone(form)
	out[place] ^= 1
	return out
}
