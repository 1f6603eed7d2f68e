package lua

import (
	"slices"
	"strings"
	"sync"
	"text/template"
)

// Layout is how records of one schema are stored: schema.lua has what is made of it, on
// the way in and out.
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
	Always []string // there from the first: at most 30, which one pattern of Lua can hold
	Often  []string // at least one
	Seldom []string
	Names  []string // all of them, in their order
}

func columns(always, often, seldom []string) Columns {
	return Columns{Always: always, Often: often, Seldom: seldom, Names: slices.Concat(always, often, seldom)}
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

// layoutTemplate makes of every kind of line read(line), a table without those that are
// empty beyond Always, or nil when it is no such line; and write(table), the line.
var layoutTemplate = template.Must(template.New("layouts").Funcs(template.FuncMap{
	"join":     strings.Join,
	"captures": func(names []string) string { return strings.Repeat(`([^\t]*)\t`, len(names)) },
	"concat":   func(some, more []string) []string { return slices.Concat(some, more) },
}).Parse(`-- read_rest reads values of a line from a place on, into the columns that are left.
local function read_rest(line, at, columns, into)
  for i = 1, #columns do
    local tab = string.find(line, '\t', at, true)
    local value = string.sub(line, at, (tab or 0) - 1)
    if value ~= '' then into[columns[i]] = value end
    if not tab then break end
    at = tab + 1
  end
  return into
end
{{define "line"}}{
      read = function(line)
        local v, at = {}
        v.{{join .Always ", v."}}, at =
          string.match(line, '^{{captures .Always}}()')
        if not at then return nil end
        return read_rest(line, at, { '{{join (concat .Often .Seldom) "', '"}}' }, v)
      end,
      write = function(v)
        local line = table.concat({ v.{{join (concat .Always .Often) " or '', v."}} or '' }, '\t')
{{- if .Seldom}}
        if v.{{join .Seldom " or v."}} then
          line = line .. '\t' .. table.concat({ v.{{join .Seldom " or '', v."}} or '' }, '\t')
        end
{{- end}}
        return line
      end,
    }{{end}}
-- What is made of the layouts, by schema: see layout.go.
local LAYOUTS = {
{{- range .}}
  {
    names = { {{- range $ours, $theirs := .Names}} ['{{$ours}}'] = '{{$theirs}}', {{end -}} },
    opening = { {{- range $column, $value := .Opening}} ['{{$column}}'] = '{{$value}}', {{end -}} },
    job = {{template "line" .Job}},
    attempt = {{template "line" .Attempt}},
    delivery = {{template "line" .Delivery}},
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
