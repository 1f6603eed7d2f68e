package contracts

import (
	"maps"
	"slices"
	"strconv"
)

// What the value of a keyword of JSON Schema (draft-04 to 2020-12) holds.
const (
	plainValue = iota // no schema
	oneSchema         // a schema
	schemaList        // schemas, or one
	schemaMap         // schemas by name
)

var keywords = map[string]int{
	"$schema": plainValue, "$id": plainValue, "id": plainValue, "$ref": plainValue, "$anchor": plainValue,
	"$dynamicRef": plainValue, "$dynamicAnchor": plainValue, "$recursiveRef": plainValue, "$recursiveAnchor": plainValue,
	"$vocabulary": plainValue, "$comment": plainValue, "$defs": schemaMap, "definitions": schemaMap,
	"type": plainValue, "enum": plainValue, "const": plainValue, "multipleOf": plainValue, "maximum": plainValue,
	"exclusiveMaximum": plainValue, "minimum": plainValue, "exclusiveMinimum": plainValue, "maxLength": plainValue,
	"minLength": plainValue, "pattern": plainValue, "maxItems": plainValue, "minItems": plainValue, "uniqueItems": plainValue,
	"maxContains": plainValue, "minContains": plainValue, "maxProperties": plainValue, "minProperties": plainValue,
	"required": plainValue, "dependentRequired": plainValue, "format": plainValue, "contentEncoding": plainValue,
	"contentMediaType": plainValue, "contentSchema": oneSchema, "title": plainValue, "description": plainValue,
	"default": plainValue, "deprecated": plainValue, "readOnly": plainValue, "writeOnly": plainValue, "examples": plainValue,
	"allOf": schemaList, "anyOf": schemaList, "oneOf": schemaList, "not": oneSchema, "if": oneSchema, "then": oneSchema,
	"else": oneSchema, "dependentSchemas": schemaMap, "dependencies": schemaMap, "prefixItems": schemaList,
	"items": schemaList, "additionalItems": oneSchema, "contains": oneSchema, "properties": schemaMap,
	"patternProperties": schemaMap, "additionalProperties": oneSchema, "propertyNames": oneSchema,
	"unevaluatedItems": oneSchema, "unevaluatedProperties": oneSchema,
}

// visitSchemas calls visit for the document and every schema in it.
func visitSchemas(document any, at string, visit func(at string, schema map[string]any)) {
	schema, ok := document.(map[string]any)
	if !ok {
		return
	}
	visit(at, schema)
	for _, word := range slices.Sorted(maps.Keys(schema)) {
		inner, place := schema[word], at+"/"+word
		switch holds := keywords[word]; holds {
		case oneSchema, schemaList:
			if list, isList := inner.([]any); isList && holds == schemaList {
				for i, item := range list {
					visitSchemas(item, place+"/"+strconv.Itoa(i), visit)
				}
				continue
			}
			visitSchemas(inner, place, visit)
		case schemaMap:
			named, _ := inner.(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(named)) {
				visitSchemas(named[name], place+"/"+name, visit)
			}
		}
	}
}

// unknownKeyword finds a word that JSON Schema ignores, so that a slip of the pen
// is not a rule that checks nothing; ajv's strict mode does the same.
func unknownKeyword(document any, at string) (place, word string) {
	visitSchemas(document, at, func(at string, schema map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(schema)) {
			if _, known := keywords[name]; !known && word == "" {
				place, word = at+"/", name
			}
		}
	})
	return place, word
}

func propertyNames(document any) map[string]bool {
	names := map[string]bool{}
	visitSchemas(document, "", func(_ string, schema map[string]any) {
		properties, _ := schema["properties"].(map[string]any)
		for name := range properties {
			names[name] = true
		}
	})
	return names
}

// young are the keywords that draft-07 has not, and with it promptfoo's validator.
var young = []string{
	"unevaluatedProperties", "unevaluatedItems", "prefixItems", "dependentSchemas", "dependentRequired", "minContains",
	"maxContains", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary", "contentSchema",
}

func hasYoung(document any) bool {
	found := false
	visitSchemas(document, "", func(_ string, schema map[string]any) {
		found = found || slices.ContainsFunc(young, func(word string) bool { _, ok := schema[word]; return ok })
	})
	return found
}
