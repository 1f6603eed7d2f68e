package contracts

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// schema is a compiled JSON Schema. nil is the schema of anything.
type schema struct {
	compiled *jsonschema.Schema
	names    map[string]bool // that the schema has: only these are said of an answer
	young    bool            // see young
}

// maxFaults bounds how many faults of one answer are listed.
const maxFaults = 3

// holds validates a value. The class of a failure is that of its first fault:
// wrong types before extra keys before anything else, because a wrong type is
// what the others follow from.
func (s *schema) holds(v any) verdict {
	if s == nil {
		return pass()
	}
	var invalid *jsonschema.ValidationError
	err := s.compiled.Validate(v)
	if err == nil {
		return pass()
	}
	if !errors.As(err, &invalid) {
		return broken("the schema cannot be applied to this answer", "")
	}
	faults := leaves(invalid, nil)
	slices.SortStableFunc(faults, func(a, b *jsonschema.ValidationError) int { return classRank(a) - classRank(b) })
	whys := make([]string, 0, maxFaults)
	for _, fault := range faults[:min(len(faults), maxFaults)] {
		whys = append(whys, s.place(fault.InstanceLocation)+" "+words(fault))
	}
	if more := len(faults) - maxFaults; more > 0 {
		whys = append(whys, fmt.Sprintf("%d more", more))
	}
	return verdict{reason: class(faults[0]), why: strings.Join(whys, "; "), detail: extraNames(faults)}
}

// leaves are the faults themselves. What failed inside anyOf, oneOf or not is one
// fault: which of the alternatives was meant is not known.
func leaves(e *jsonschema.ValidationError, found []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.Not:
		return append(found, e)
	}
	if len(e.Causes) == 0 {
		return append(found, e)
	}
	for _, cause := range e.Causes {
		found = leaves(cause, found)
	}
	return found
}

func class(e *jsonschema.ValidationError) string {
	switch e.ErrorKind.(type) {
	case *kind.Type:
		return ReasonWrongType
	case *kind.AdditionalProperties:
		return ReasonExtraKeys
	case *kind.FalseSchema:
		if strings.HasSuffix(e.SchemaURL, "/unevaluatedProperties") {
			return ReasonExtraKeys
		}
	}
	return ReasonViolation
}

func classRank(e *jsonschema.ValidationError) int {
	return slices.Index([]string{ReasonWrongType, ReasonExtraKeys, ReasonViolation}, class(e))
}

// words says what is wrong in the schema's words; nothing of the answer but
// counts and names of types.
func words(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return fmt.Sprintf("is of type %s, want %s", k.Got, strings.Join(k.Want, " or "))
	case *kind.AdditionalProperties:
		return fmt.Sprintf("has %d member(s) that the schema does not allow", len(k.Properties))
	case *kind.Required:
		return "lacks " + strings.Join(k.Missing, ", ")
	case *kind.FalseSchema:
		return "is not allowed"
	case *kind.AnyOf:
		return "fits none of anyOf"
	case *kind.OneOf:
		return "does not fit exactly one of oneOf"
	case *kind.Not:
		return "fits what it must not"
	}
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		return "breaks " + path[0]
	}
	return "does not fit"
}

// place is where in the answer, as a JSON Pointer; names that are the answer's
// own are not said.
func (s *schema) place(location []string) string {
	if len(location) == 0 {
		return "the whole"
	}
	var b strings.Builder
	for _, token := range location {
		if _, err := strconv.Atoi(token); err != nil && !s.names[token] {
			token = "*"
		}
		b.WriteString("/" + token)
	}
	return short(b.String(), 100)
}

// extraNames lists names the answer has too many, for verify.
func extraNames(faults []*jsonschema.ValidationError) string {
	var names []string
	for _, fault := range faults {
		if k, ok := fault.ErrorKind.(*kind.AdditionalProperties); ok {
			names = append(names, k.Properties...)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "too many: " + short(strings.Join(names, ", "), 200)
}
