package client_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"onejob/client"
)

func description(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("../api/openapi.yaml")
	require.NoError(t, err)
	return doc
}

// TestTypes_AreThoseOfTheDescription: every field of every answer has its place
// here, of its kind, and nothing else has.
func TestTypes_AreThoseOfTheDescription(t *testing.T) {
	t.Parallel()
	schemas := description(t).Components.Schemas
	for name, v := range map[string]any{
		"Job": client.Job{}, "Attempt": client.Attempt{}, "Event": client.Event{}, "Problem": client.Problem{},
	} {
		compare(t, name, schemas[name].Value, reflect.TypeOf(v))
	}
}

func compare(t *testing.T, name string, schema *openapi3.Schema, of reflect.Type) {
	t.Helper()
	fields := map[string]reflect.StructField{}
	for field := range of.Fields() {
		if tag, options, _ := strings.Cut(field.Tag.Get("json"), ","); tag != "-" {
			fields[tag] = field
			require.Equal(t, !slices.Contains(schema.Required, tag), options != "" || name == "Job" && tag == "next",
				"%s.%s: left out when empty, and only if the server may", name, tag)
		}
	}
	for property, ref := range schema.Properties {
		where := name + "." + property
		field, ok := fields[property]
		require.True(t, ok, "%s is not in the client", where)
		delete(fields, property)
		compareKind(t, where, ref, field.Type)
	}
	require.Empty(t, fields, "%s: only in the client", name)
}

func compareKind(t *testing.T, where string, ref *openapi3.SchemaRef, of reflect.Type) {
	t.Helper()
	schema := ref.Value
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case strings.HasSuffix(ref.Ref, "/Time"):
		require.Equal(t, reflect.TypeFor[time.Time](), of, where)
	case len(schema.Enum) > 0 || schema.Type.Is("string"):
		require.Equal(t, reflect.String, of.Kind(), where)
	case schema.Type.Is("integer"):
		require.Contains(t, []reflect.Kind{reflect.Int, reflect.Int64}, of.Kind(), where)
	case schema.Type.Is("boolean"):
		require.Equal(t, reflect.Bool, of.Kind(), where)
	case schema.Type.Is("array"):
		require.Equal(t, reflect.Slice, of.Kind(), where)
		if of.Elem().Kind() == reflect.Struct {
			compare(t, where, schema.Items.Value, of.Elem())
		}
	case of.Kind() == reflect.Struct:
		compare(t, where, schema, of)
	default: // any JSON, or a map
		require.Contains(t, []reflect.Kind{reflect.Slice, reflect.Map}, of.Kind(), where)
	}
}

// TestNames_AreThoseOfTheDescription: states and problems.
func TestNames_AreThoseOfTheDescription(t *testing.T) {
	t.Parallel()
	schemas := description(t).Components.Schemas
	for name, known := range map[string][]string{
		"JobState": texts(client.Queued, client.Running, client.Unknown, client.Succeeded, client.Failed, client.Cancelled),
		"AttemptState": texts(client.AttemptStarting, client.AttemptRunning, client.AttemptUnknown, client.AttemptSucceeded,
			client.AttemptFailed, client.AttemptCancelled, client.AttemptDiscarded),
		"ProblemName": texts(client.ErrConflict, client.ErrKeyExpired, client.ErrKeyMissing, client.ErrKeyInvalid, client.ErrInvalid,
			client.ErrTooLarge, client.ErrMediaType, client.ErrRouteUnknown, client.ErrUnauthorized, client.ErrForbidden,
			client.ErrNotFound, client.ErrMethod, client.ErrUnresolved, client.ErrSettled, client.ErrNotUnknown, client.ErrFinal,
			client.ErrVersion, client.ErrRateLimited, client.ErrUnavailable, client.ErrRecordNewer, client.ErrInternal),
	} {
		var said []string
		for _, value := range schemas[name].Value.Enum {
			said = append(said, value.(string))
		}
		require.ElementsMatch(t, said, known, name)
	}
}

func texts[T ~string](values ...T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// TestSends_WhatTheDescriptionTakes: the fields of a submit and the filters of a
// list are all there are.
func TestSends_WhatTheDescriptionTakes(t *testing.T) {
	t.Parallel()
	doc := description(t)
	for _, property := range []string{"route", "input", "provider", "params", "metadata", "webhook_url", "start_within"} {
		require.Contains(t, doc.Components.Schemas["SubmitRequest"].Value.Properties, property)
	}
	require.Len(t, doc.Components.Schemas["SubmitRequest"].Value.Properties, reflect.TypeFor[client.Request]().NumField()-1, "all but the key")
	require.Len(t, doc.Paths.Value("/v1/jobs").Get.Parameters, reflect.TypeFor[client.Query]().NumField()+1, "and after")
}

// TestUnknownThings: a newer server has fields, states and problems that this
// client does not know.
func TestUnknownThings(t *testing.T) {
	t.Parallel()
	server := newServer(t, `{"id":"job_1","state":"dreaming","version":1,"dreams":[1],"attempts":[{"number":1,"state":"asleep"}]}`)
	job, err := newClient(t, server, "k").Get(t.Context(), "job_1")
	require.NoError(t, err)
	require.Equal(t, client.State("dreaming"), job.State)
	require.False(t, job.State.Ended())
	require.False(t, job.Attempts[0].State.Open())
}
