package hostile

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
)

// A body is made as a tree, so that it can be broken where it hurts: an object is a
// *object, whose names may repeat, an array is an *array, and everything else is
// text, as it is written.
type (
	object struct{ members []member }
	member struct {
		name  string // as it is written between the quotes
		value any
	}
	array struct{ items []any }
	text  string
)

func quoted(s string) text {
	b, _ := json.Marshal(s)
	return text(b)
}

func write(b *bytes.Buffer, value any) {
	switch v := value.(type) {
	case *object:
		b.WriteByte('{')
		for i, m := range v.members {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`"` + m.name + `":`)
			write(b, m.value)
		}
		b.WriteByte('}')
	case *array:
		b.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, item)
		}
		b.WriteByte(']')
	case text:
		b.WriteString(string(v))
	}
}

// spoil breaks one place of a tree.
func spoil(rnd *rand.Rand, tree any) any {
	whole := tree
	places := []*any{&whole}
	var objects []*object
	var visit func(value any)
	visit = func(value any) {
		switch v := value.(type) {
		case *object:
			objects = append(objects, v)
			for i := range v.members {
				places = append(places, &v.members[i].value)
				visit(v.members[i].value)
			}
		case *array:
			for i := range v.items {
				places = append(places, &v.items[i])
				visit(v.items[i])
			}
		}
	}
	visit(whole)
	if len(objects) > 0 && rnd.IntN(2) == 0 {
		spoilObject(rnd, objects[rnd.IntN(len(objects))])
		return whole
	}
	*places[rnd.IntN(len(places))] = text(nastyValue(rnd))
	return whole
}

func spoilObject(rnd *rand.Rand, o *object) {
	n := len(o.members)
	switch how := rnd.IntN(4); {
	case how == 0 || n == 0:
		o.members = append(o.members, member{pick(rnd, nastyNames), text(nastyValue(rnd))})
	case how == 1:
		i := rnd.IntN(n)
		o.members = append(o.members[:i:i], o.members[i+1:]...)
	case how == 2:
		o.members = append(o.members, o.members[rnd.IntN(n)])
	default:
		o.members[rnd.IntN(n)].name = pick(rnd, nastyNames)
	}
}

var nastyNames = []string{
	"", "x", "Route", "ROUTE", "route ", "__proto__", "constructor", "id", "owner", "state", "version", `\u0000`, `\ud800`, "\xff",
	`a\"b`, "$ref", "é", "reason", "result", "then", strings.Repeat("n", 3000),
}

// nastyValues are right and wrong JSON, of every type, at and beyond the edges.
var nastyValues = []string{
	"null", "true", "false", "0", "-0", "-1", "1", "1.0", "1e0", "1e400", "-1e400", "1e-400", "9007199254740993", "18446744073709551616",
	strings.Repeat("9", 400), "0." + strings.Repeat("0", 400) + "1", "01", "+1", ".5", "1.", "0x10", "NaN", "Infinity", "--1",
	`""`, `"x"`, `"\u0000"`, "\"\x00\"", `"\ud800"`, `"\udc00\ud800"`, "\"\xff\xfe\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"a\nb\"", `"\x41"`, `"\u00"`,
	`"` + strings.Repeat("é", 501) + `"`, `"<script>alert(1)</script>"`, "\"\u202e\u2028\ufeff\"", `"'; DROP"`,
	`"{{7*7}}"`, `"../../etc/passwd"`, `"%00"`, `"1ms"`, `"-1s"`, `"9999999h"`, `"http://127.0.0.1:1/"`, `"https://[::1"`, `"continue"`,
	"[]", "{}", "[null]", "[[]]", `{"a":1,"a":2}`, `{"":{"":{}}}`, "[1,]", `{"a":1,}`, "{1:2}", "'x'", "x", "", "]", "}", "/**/1",
}

// hugeValues are the large ones, which cost both sides more than a hundred others.
var hugeValues = []string{
	`"` + strings.Repeat("a", 70000) + `"`, nested("[", "]", 99), nested("[", "]", 101), nested("[", "]", 20000), nested(`{"a":`, "}", 101),
	strings.Repeat("[", 100000), strings.Repeat(`{"a":`, 5000), "[" + strings.TrimSuffix(strings.Repeat("0,", 20000), ",") + "]", manyMembers(3000),
}

func nastyValue(rnd *rand.Rand) string {
	if rnd.IntN(30) == 0 {
		return pick(rnd, hugeValues)
	}
	return pick(rnd, nastyValues)
}

func nested(before, after string, deep int) string {
	return strings.Repeat(before, deep) + "1" + strings.Repeat(after, deep)
}

func manyMembers(n int) string {
	var b strings.Builder
	b.WriteString(`{"m0":0`)
	for i := 1; i < n; i++ {
		b.WriteString(`,"m` + strings.Repeat("m", i%7) + string(rune('a'+i%26)) + itoa(i) + `":` + itoa(i))
	}
	b.WriteString("}")
	return b.String()
}

func pick[T any](rnd *rand.Rand, from []T) T { return from[rnd.IntN(len(from))] }
