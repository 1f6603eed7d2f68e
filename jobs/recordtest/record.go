// Package recordtest lets tests look into stored records and change them by hand, field
// by field, by the names that scripts and Go have for them (lua/schema.lua): `state`,
// `1.lease`, `h1.next`; op1 and so on are the operations that are remembered.
package recordtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"onejob/lua"
)

// Fields is a record, as HGETALL gives it, with the field small taken apart.
func Fields(record map[string]string) map[string]string {
	layout, fields := layoutOf(record), maps.Clone(record)
	delete(fields, "small")
	for i, line := range strings.Split(record["small"], "\n") {
		tag, rest, _ := strings.Cut(line, "\t")
		switch {
		case record["small"] == "":
		case i == 0:
			spread(fields, "", line, layout.Job.Names)
		case strings.HasPrefix(tag, "o="):
			fields["op"+strconv.Itoa(count(fields, "op")+1)] = line[len("o="):]
		case tag[0] == 'h':
			spread(fields, tag+".", rest, layout.Delivery.Names)
		default:
			spread(fields, tag+".", rest, layout.Attempt.Names)
		}
	}
	return fields
}

// Record is what Fields was made of.
func Record(fields map[string]string) map[string]string {
	layout, record := layoutOf(fields), maps.Clone(fields)
	lines := []string{line(record, "", layout.Job)}
	for n, last := 1, whole(fields["attempts"]); n <= last; n++ {
		lines = appendRow(lines, record, strconv.Itoa(n), layout.Attempt)
	}
	for h, last := 1, whole(fields["hooks"]); h <= last; h++ {
		lines = appendRow(lines, record, "h"+strconv.Itoa(h), layout.Delivery)
	}
	for i := range count(fields, "op") {
		name := "op" + strconv.Itoa(i+1)
		lines = append(lines, "o="+record[name])
		delete(record, name)
	}
	record["small"] = strings.Join(lines, "\n")
	maps.DeleteFunc(record, func(name, _ string) bool { return ofNobody(name, layout) })
	return record
}

// ofNobody tells of a column of an attempt or delivery that the job does not count.
func ofNobody(name string, layout *lua.Layout) bool {
	tag, column, ok := strings.Cut(name, ".")
	if strings.HasPrefix(tag, "h") {
		return ok && slices.Contains(layout.Delivery.Names, column)
	}
	return ok && slices.Contains(layout.Attempt.Names, column)
}

// Set changes fields of a stored record; an empty value takes a small one away.
func Set(ctx context.Context, rdb redis.UniversalClient, key string, changes map[string]any) error {
	record, err := rdb.HGetAll(ctx, key).Result()
	if err != nil {
		return fmt.Errorf("reading %s: %w", key, err)
	}
	fields := Fields(record)
	for name, value := range changes {
		fields[name] = fmt.Sprint(value)
	}
	if err := rdb.HSet(ctx, key, Record(fields)).Err(); err != nil {
		return fmt.Errorf("writing %s: %w", key, err)
	}
	return nil
}

// Get is one field of a stored record; empty when it is not there.
func Get(ctx context.Context, rdb redis.UniversalClient, key, name string) (string, error) {
	record, err := rdb.HGetAll(ctx, key).Result()
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", key, err)
	}
	return Fields(record)[name], nil
}

func layoutOf(record map[string]string) *lua.Layout {
	if layout := lua.LayoutOf(max(1, whole(record["v"]))); layout != nil {
		return layout
	}
	panic("no schema " + record["v"])
}

func spread(into map[string]string, prefix, line string, columns []string) {
	for i, value := range strings.Split(line, "\t") {
		if value != "" {
			into[prefix+columns[i]] = value
		}
	}
}

// line writes what spread reads, and takes it out of from.
func line(from map[string]string, prefix string, columns lua.Columns) string {
	all := columns.Names
	values, seldom := make([]string, len(all)), false
	for i, column := range all {
		values[i] = from[prefix+column]
		seldom = seldom || values[i] != "" && slices.Contains(columns.Seldom, column)
		delete(from, prefix+column)
	}
	if !seldom {
		values = values[:len(all)-len(columns.Seldom)]
	}
	return strings.Join(values, "\t")
}

func appendRow(lines []string, record map[string]string, tag string, columns lua.Columns) []string {
	row := line(record, tag+".", columns)
	if strings.Trim(row, "\t") == "" {
		return lines
	}
	return append(lines, tag+"\t"+row)
}

// count is how many names of the record are a word and a number.
func count(record map[string]string, word string) int {
	return len(slices.DeleteFunc(slices.Collect(maps.Keys(record)), func(name string) bool {
		number, ok := strings.CutPrefix(name, word)
		_, err := strconv.Atoi(number)
		return !ok || err != nil
	}))
}

func whole(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
