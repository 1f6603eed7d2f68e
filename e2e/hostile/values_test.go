package hostile

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// value is one that a schema takes, or nearly: patterns are left to the names below.
func (a *author) value(name string, s *openapi3.Schema) any {
	if special, ok := a.special(name); ok {
		return special
	}
	switch {
	case s.Const != nil:
		return encoded(s.Const)
	case len(s.Enum) > 0:
		return encoded(pick(a.rnd, s.Enum))
	}
	kind := openapi3.TypeString
	if s.Type != nil && len(s.Type.Slice()) > 0 {
		kind = pick(a.rnd, s.Type.Slice())
	}
	switch kind {
	case openapi3.TypeObject:
		return a.object(s)
	case openapi3.TypeArray:
		items := &array{}
		for range a.rnd.IntN(3) + int(s.MinItems) {
			items.items = append(items.items, a.item(s))
		}
		return items
	case openapi3.TypeBoolean:
		return text(pick(a.rnd, []string{"true", "false"}))
	case openapi3.TypeInteger, openapi3.TypeNumber:
		return text(itoa(1 + a.rnd.IntN(150)))
	case openapi3.TypeNull:
		return text("null")
	}
	return a.words(s)
}

func (a *author) item(s *openapi3.Schema) any {
	if s.Items == nil {
		return text(pick(a.rnd, []string{"1", `"x"`, "null", "{}", "[]"}))
	}
	return a.value("", s.Items.Value)
}

func (a *author) object(s *openapi3.Schema) any {
	o := &object{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) { // the same for the same seed
		if slices.Contains(s.Required, name) || a.chance(40) {
			o.members = append(o.members, member{name, a.value(name, s.Properties[name].Value)})
		}
	}
	if s.AdditionalProperties.Schema != nil {
		for i := range a.rnd.IntN(4) {
			o.members = append(o.members, member{"p" + itoa(i), a.value("", s.AdditionalProperties.Schema.Value)})
		}
	}
	return o
}

func (a *author) words(s *openapi3.Schema) any {
	if s.Format == "date-time" {
		return quoted(time.Now().Add(time.Duration(a.rnd.IntN(7200)-3600) * time.Second).UTC().Format(time.RFC3339))
	}
	return quoted(pick(a.rnd, []string{"x", "two words", "ünï çode 漢字 🖨", "", "<b>", "a\tb", "0"}))
}

// special are values that mean something to onejob.
func (a *author) special(name string) (any, bool) {
	switch name {
	case "route", "model":
		return quoted(pick(a.rnd, routes)), true
	case "provider":
		return quoted(pick(a.rnd, []string{"inkjet", "laser", "laser", "press"})), true
	case "params":
		return text(pick(a.rnd, []string{"{}", "{}", `{"temperature":0}`, `{"temperature":1e2}`, `{"top_p":1}`})), true
	case "input":
		return text(pick(a.rnd, inputs)), true
	case "webhook_url":
		return quoted(pick(a.rnd, []string{"http://127.0.0.1:1/hook", "https://receiver.invalid/", "ftp://x", "http://[::1]:1/"})), true
	case "start_within":
		return quoted(pick(a.rnd, []string{"1ms", "90s", "1h", "0s", "soon"})), true
	case "messages":
		return text(pick(a.rnd, []string{`[{"role":"user","content":"hello"}]`, `[{"role":"user","content":[{"type":"text","text":"hi"}]}]`, `[{}]`})), true
	}
	return nil, false
}

// inputs make the simulated providers do everything they can.
var inputs = []string{
	"1", "null", `"text"`, `{"a":[1,2,{"b":null}]}`, `{"simulate":{}}`,
	`{"simulate":{"inkjet":{"outcome":"hang"}}}`, `{"simulate":{"inkjet":{"outcome":"reject"},"laser":{"outcome":"reject"}}}`,
	`{"simulate":{"inkjet":{"outcome":"busy"},"laser":{"outcome":"busy"}}}`, `{"simulate":{"inkjet":{"outcome":"garbage"}}}`,
	`{"simulate":{"inkjet":{"outcome":"reset"}}}`, `{"simulate":{"inkjet":{"outcome":"truncate"}}}`, `{"simulate":{"inkjet":{"delay":"400ms"}}}`,
	`{"simulate":{"inkjet":[{"outcome":"busy"},{"outcome":"succeed"}]}}`, `{"simulate":{"inkjet":{"outcome":"no such"}}}`,
	`{"simulate":{"inkjet":{"delay":-1}}}`, `{"simulate":7}`, `{"simulate":{"inkjet":{"result":{"deep":[[[[1]]]]}}}}`,
}

func encoded(v any) text {
	b, _ := json.Marshal(v)
	return text(b)
}
