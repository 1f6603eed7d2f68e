package providers

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

type nobody struct{}

func (nobody) Execute(context.Context, *Call) Outcome { return Outcome{} }

func TestRegistry(t *testing.T) {
	t.Parallel()
	var r Registry
	bad := errors.New("model is missing")
	require.NoError(t, r.Register("b", func(Config) (Provider, error) { return nobody{}, nil }))
	require.NoError(t, r.Register("a", func(Config) (Provider, error) { return nil, bad }))
	require.ErrorIs(t, r.Register("a", func(Config) (Provider, error) { return nil, nil }), ErrTypeTaken)
	require.Error(t, r.Register("c", nil))
	require.Equal(t, []string{"a", "b"}, r.Types())

	p, err := r.New(Config{Name: "x", Type: "b"})
	require.NoError(t, err)
	require.Equal(t, nobody{}, p)
	_, err = r.New(Config{Name: "x", Type: "a"})
	require.ErrorIs(t, err, bad)
	_, err = r.New(Config{Name: "x", Type: "z"})
	require.EqualError(t, err, `provider x: unknown type "z"; known are a, b`)
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"http://h/p": true, "https://h": true, "": false, "h/p": false, "ftp://h": false, "http://": false,
		"http://u:hunter2@h:x/": false,
	} {
		err := CheckURL("url", address)
		require.Equal(t, ok, err == nil, address)
		if err != nil {
			require.NotContains(t, err.Error(), "hunter2")
		}
	}
	ref := Ref{AttemptID: "job_1-a1", Handle: "../x?y"}
	got, err := Expand("http://h/{attempt}/{handle}", ref)
	require.NoError(t, err)
	require.Equal(t, "http://h/job_1-a1/..%2Fx%3Fy", got)
	_, err = Expand("http://h/{handle}", Ref{AttemptID: "a"})
	require.ErrorIs(t, err, ErrNoHandle)
}

func TestMerge(t *testing.T) {
	t.Parallel()
	got, err := Merge(map[string]any{"a": 1, "b": "<x>"}, json.RawMessage(`{"a":9007199254740993,"c":null}`))
	require.NoError(t, err)
	raw, err := Encode(got)
	require.NoError(t, err)
	require.Equal(t, `{"a":9007199254740993,"b":"<x>","c":null}`, string(raw))

	got, err = Merge(nil, nil)
	require.NoError(t, err)
	require.NotNil(t, got)
	_, err = Merge(nil, json.RawMessage(`[1]`))
	require.Error(t, err)
}
