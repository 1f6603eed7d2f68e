package api

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// member is one of a JSON object.
type member struct{ name, value string }

// decoded are an object's members as the library finds them.
func decoded(object []byte) []member {
	var all []member
	dec := jsontext.NewDecoder(bytes.NewBuffer(object))
	_, _ = dec.ReadToken() // the brace
	for dec.PeekKind() == '"' {
		name, _ := dec.ReadToken()
		text := name.String()
		value, _ := dec.ReadValue()
		all = append(all, member{text, string(value)})
	}
	return all
}

// FuzzMembers: the members of every object that canonical takes are those that the
// library finds in it.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` { } `, `{"a":1}`, "\t{\r\n\"a\" : 1 ,\"b\":[1,{\"c\":\"}\"}] ,\"d\" :null\n}\n", `{"a":"\\\"","b":"\\\\"}`,
		`{"\u0061\"":true,"":{}}`, `{"a":{"b":{"c":[[],[{}]]}},"d":-1.5e3}`, `{"a":"{","b":"]","c":","}`, `{"é":"é"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		normal, bad := canonical(body)
		if bad != nil || normal[0] != '{' {
			return
		}
		var found []member
		for name, value := range eachMember(body) {
			found = append(found, member{name, string(value)})
		}
		require.Equal(t, decoded(body), found)
	})
}
