package jobs

import (
	"cmp"
	"slices"
	"strings"

	"onejob/lua"
)

// recordFields are the fields of a record, by whose they are: the job's own, and those
// of its attempts and deliveries, each in the order of the numbers. The trail (`e<k>`)
// is left out: see Events.
type recordFields struct {
	own        fieldList
	attempts   []numberedFields
	deliveries []numberedFields
}

// numberedFields are those of one attempt or delivery.
type numberedFields struct {
	number int
	fields fieldList
}

// fieldList is names, each with its value after it. To look through the few that a
// record has takes less than to make a map of them.
type fieldList []string

func (l *fieldList) add(name, value string) { *l = append(*l, name, value) }

// at is the value of a field; empty where there is none.
func (l fieldList) at(name string) string {
	for i := 0; i+1 < len(l); i += 2 {
		if l[i] == name {
			return l[i+1]
		}
	}
	return ""
}

// readFields sorts what lua/read.lua answered for a record that is there; a NewerSchema
// says that it cannot be read.
func readFields(jobID string, flat []any) (*recordFields, error) {
	small, v := "", ""
	for i := 0; i+1 < len(flat); i += 2 {
		switch str(flat[i]) {
		case "small":
			small = str(flat[i+1])
		case "v":
			v = str(flat[i+1])
		}
	}
	layout, err := layoutOf(jobID, v)
	if err != nil {
		return nil, err
	}
	var f recordFields
	f.addSmall(small, layout)
	for i := 0; i+1 < len(flat); i += 2 {
		if name := str(flat[i]); name != "small" && name != "v" {
			f.set(name, str(flat[i+1]))
		}
	}
	return &f, nil
}

// addSmall reads the lines of the field small (lua/small.lua).
func (f *recordFields) addSmall(small string, layout *lua.Layout) {
	own, rest, _ := strings.Cut(small, "\n")
	f.own.addLine(own, layout.Job.Names)
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		tag, values, _ := strings.Cut(line, "\t")
		if h, ok := strings.CutPrefix(tag, "h"); ok {
			of(&f.deliveries, int(whole(h))).addLine(values, layout.Delivery.Names)
		} else if n := int(whole(tag)); n > 0 {
			of(&f.attempts, n).addLine(values, layout.Attempt.Names)
		} // else an operation that is remembered
	}
}

// usualLarge is how many fields of their own most jobs and attempts have besides.
const usualLarge = 2

// addLine reads a line by its columns.
func (l *fieldList) addLine(line string, columns []string) {
	*l = slices.Grow(*l, 2*(filled(line)+usualLarge))
	for _, column := range columns {
		value, rest, more := strings.Cut(line, "\t")
		if value != "" {
			l.add(column, value)
		}
		if !more {
			return
		}
		line = rest
	}
}

// filled counts the values of a line that are not empty.
func filled(line string) int {
	count, empty := 0, true
	for i := range len(line) {
		if line[i] == '\t' {
			empty = true
		} else if empty {
			count, empty = count+1, false
		}
	}
	return count
}

func (f *recordFields) set(name, value string) {
	if n, field, ok := numbered(name); ok {
		of(&f.attempts, n).add(field, value)
		return
	}
	if rest, ok := strings.CutPrefix(name, "h"); ok {
		if n, field, ok := numbered(rest); ok {
			of(&f.deliveries, n).add(field, value)
			return
		}
	}
	if !isTrail(name) {
		f.own.add(name, value)
	}
}

// of finds or makes the fields with a number.
func of(list *[]numberedFields, number int) *fieldList {
	i, found := slices.BinarySearchFunc(*list, number, func(have numberedFields, n int) int { return cmp.Compare(have.number, n) })
	if !found {
		*list = slices.Insert(*list, i, numberedFields{number: number})
	}
	return &(*list)[i].fields
}

// numbered splits `<n>.<name>`. It is strconv.Atoi without the error it makes for
// every name that is none, which is most of them.
func numbered(name string) (n int, field string, ok bool) {
	digits := digitsOf(name)
	if digits == 0 || digits > 9 || digits == len(name) || name[digits] != '.' {
		return 0, "", false
	}
	for _, digit := range []byte(name[:digits]) {
		n = n*10 + int(digit-'0')
	}
	return n, name[digits+1:], true
}

// digitsOf is how many digits name begins with.
func digitsOf(name string) int {
	for i := range len(name) {
		if name[i] < '0' || name[i] > '9' {
			return i
		}
	}
	return len(name)
}

// isTrail tells whether name is that of a line of the trail, `e<k>`.
func isTrail(name string) bool {
	return len(name) > 1 && name[0] == 'e' && digitsOf(name[1:]) == len(name)-1
}
