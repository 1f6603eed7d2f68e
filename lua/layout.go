package lua

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
)

// Layout is how records of one schema are stored: what is made of it stands in front of
// schema.lua.
//
// A record keeps the schema it was submitted with for its whole life, and a column, once
// stored, keeps its place: whoever needs another one makes a new schema of it
// (docs/deploy.md, "Upgrading").
type Layout struct {
	// Job, Attempt and Delivery are the columns of their lines in the field small.
	Job, Attempt, Delivery Columns
	// Names are what fields of their own are called where they have another name in
	// this schema; `.name` is one of an attempt or a delivery.
	Names map[string]string
	// Opening is what a record begins with besides.
	Opening map[string]string
}

// Columns are those of a kind of line, in their order. Lines end before Seldom where
// none of these is there.
type Columns struct {
	Always []string // there from the first
	Often  []string // at least one; with those before at most 31, which one pattern of Lua can hold
	Seldom []string
	Names  []string // all of them, in their order
}

func columns(always, often, seldom []string) Columns {
	return Columns{Always: always, Often: often, Seldom: seldom, Names: slices.Concat(always, often, seldom)}
}

// fixed is how many columns every line has.
func (c Columns) fixed() int { return len(c.Always) + len(c.Often) }

// locals are what the code that reads a line calls their values.
func (c Columns) locals() []string {
	names := make([]string, c.fixed())
	for i := range names {
		names[i] = "v" + strconv.Itoa(i+1)
	}
	return names
}

// fields are what it makes a table of: all at once, for a table that grows by one field
// at a time is made anew at every power of two.
func (c Columns) fields() []string {
	fields := make([]string, c.fixed())
	for i, value := range c.locals() {
		if i >= len(c.Always) {
			value += " ~= '' and " + value + " or nil"
		}
		fields[i] = c.Names[i] + " = " + value
	}
	return fields
}

// LayoutOf gives the layout of a schema; nil for one that this build does not know.
func LayoutOf(schema int) *Layout {
	if schema < 1 || schema > len(layouts) {
		return nil
	}
	return &layouts[schema-1]
}

// layoutSource puts the layouts in front of the scripts. A line is read and written by
// code that is made from its columns: to go by lists of them takes twice the time.
var layoutSource = sync.OnceValue(func() string {
	var source strings.Builder
	if err := layoutTemplate.Execute(&source, layouts); err != nil {
		panic(err) // no build of this module has a broken one
	}
	return source.String()
})

// layoutTemplate makes of every kind of line read(text, at), a table of those that are not
// empty, and Always, with where the line ends; or nil where there is no such line. And
// write(table), the line.
var layoutTemplate = template.Must(template.New("layouts").Funcs(template.FuncMap{
	"join":    strings.Join,
	"concat":  func(some, more []string) []string { return slices.Concat(some, more) },
	"pattern": func(c Columns) string { return strings.Join(slices.Repeat([]string{`([^\t\n]*)`}, c.fixed()), `\t`) },
	"locals":  func(c Columns) string { return strings.Join(c.locals(), ", ") },
	"fields":  func(c Columns) string { return strings.Join(c.fields(), ", ") },
}).Parse(`-- read_rest reads values of a line from a place on, into the columns that are left, and
-- gives the place where the line ends.
local function read_rest(text, at, columns, into)
  for i = 1, #columns do
    local value, stop = string.match(text, '^([^\t\n]*)()', at)
    if value ~= '' then into[columns[i]] = value end
    if string.sub(text, stop, stop) ~= '\t' then return stop end
    at = stop + 1
  end
  return string.find(text, '\n', at, true) or #text + 1
end
{{define "read"}}function(text, at)
      local {{locals .}}, stop =
        string.match(text, '^{{pattern .}}()', at)
      if not stop then return nil end
      local v = { {{fields .}} }
      if string.sub(text, stop, stop) == '\t' then
        stop = read_rest(text, stop + 1, { {{- if .Seldom}} '{{join .Seldom "', '"}}' {{end -}} }, v)
      end
      return v, stop
    end{{end}}
{{define "write"}}function(v)
      local line = (v.{{join (concat .Always .Often) " or '') .. '\\t' .. (v."}} or '')
{{- if .Seldom}}
      if v.{{join .Seldom " or v."}} then
        line = line .. '\t' .. (v.{{join .Seldom " or '') .. '\\t' .. (v."}} or '')
      end
{{- end}}
      return line
    end{{end}}
-- What is made of the layouts, by schema: see layout.go.
local LAYOUTS = {
{{- range .}}
  {
    {{- if .Names}}
    names = { {{- range $ours, $theirs := .Names}} ['{{$ours}}'] = '{{$theirs}}', {{end -}} },
    {{- end}}
    {{- if .Opening}}
    opening = { {{- range $column, $value := .Opening}} ['{{$column}}'] = '{{$value}}', {{end -}} },
    {{- end}}
    read_job = {{template "read" .Job}},
    write_job = {{template "write" .Job}},
    read_attempt = {{template "read" .Attempt}},
    write_attempt = {{template "write" .Attempt}},
    read_delivery = {{template "read" .Delivery}},
    write_delivery = {{template "write" .Delivery}},
  },
{{- end}}
}
`))

// firstLayout is that of schema 1.
var firstLayout = Layout{
	Job: columns(
		[]string{
			"state", "version", "revision", "attempts", "events", "created", "updated", "owner", "owner_hash", "key",
			"key_hash", "fingerprint", "route", "provider",
		},
		[]string{"completed_by", "result_digest", "ended", "expires"},
		[]string{"trace", "epoch", "start_by", "hooks", "hooks_off", "hold", "error_code", "error_attempt", "error_provider"},
	),
	Attempt: columns(
		[]string{"state", "provider", "created", "not_before"},
		[]string{"fence", "token", "deadline", "lease", "effect", "sent", "finished", "evidence"},
		[]string{
			"reason", "unknown_at", "wakes", "certificate", "lookup_at", "lookups", "lookup", "looked_at", "cancels",
			"late_sha256", "late_bytes", "late_at", "late_reason",
		},
	),
	Delivery: columns(
		[]string{"event", "at", "state", "tries", "next", "wakes"},
		[]string{"lease", "token", "code", "delivered"},
		nil,
	),
}
