package contracts_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/contracts"
)

var issued = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func certificate(binding string) *contracts.Certificate {
	return &contracts.Certificate{
		ID: "cert_1", Route: "summary", Provider: "gpt", Model: "m-1", Binding: binding, ContractHash: "v1:c",
		Required: []contracts.Property{contracts.PropertySchema}, Exempt: map[contracts.Property]string{contracts.PropertyTemperature: "none"},
		Proofs: []contracts.Proof{
			{Property: contracts.PropertySchema, Proven: true, Evidence: "e"}, {Property: contracts.PropertyTemperature},
		},
		Runs: 1, Calls: 2, AnswersSHA256: "a", IssuedAt: issued, ExpiresAt: issued.Add(time.Hour),
	}
}

func TestCertificate_Valid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*contracts.Certificate)
		at     time.Time
		want   error
	}{
		"valid":                    {nil, issued, nil},
		"to the last moment":       {nil, issued.Add(time.Hour - 1), nil},
		"expired":                  {nil, issued.Add(time.Hour), contracts.ErrExpired},
		"bound to something else":  {func(c *contracts.Certificate) { c.Binding = "v1:other" }, issued, contracts.ErrVoid},
		"bound to nothing":         {func(c *contracts.Certificate) { c.Binding = "" }, issued, contracts.ErrVoid},
		"without an id":            {func(c *contracts.Certificate) { c.ID = "" }, issued, contracts.ErrVoid},
		"a requirement not proven": {func(c *contracts.Certificate) { c.Proofs[0].Proven = false }, issued, contracts.ErrUnproven},
		"a requirement not there":  {func(c *contracts.Certificate) { c.Proofs = nil }, issued, contracts.ErrUnproven},
		"without an expiry":        {func(c *contracts.Certificate) { c.ExpiresAt = time.Time{} }, issued, contracts.ErrExpired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := certificate("v1:b")
			if test.change != nil {
				test.change(c)
			}
			require.ErrorIs(t, c.Valid("v1:b", test.at), test.want)
		})
	}
	require.ErrorIs(t, contracts.Certificate{ID: "a", ExpiresAt: issued}.Valid("", time.Time{}), contracts.ErrVoid)
}

// Any change of what a certificate binds gives another binding.
func TestBind(t *testing.T) {
	t.Parallel()
	c := parse(t, summary)
	base := func() contracts.Target {
		return contracts.Target{
			Route: "summary", Provider: "gpt", Type: "openai", Model: "m-1", API: "chat", BaseURL: "https://a.example/v1",
			Options: map[string]any{"max_tokens": 200, "stop": []any{"a"}, "temperature": 1},
		}
	}
	bind := func(target contracts.Target, c *contracts.Contract) string {
		binding, err := contracts.Bind(target, c)
		require.NoError(t, err)
		return binding
	}
	bound := bind(base(), c)
	same := base()
	same.BaseURL, same.Timeout, same.Deadline = "https://a.example/v1/", time.Second, time.Minute
	require.Equal(t, bound, bind(same, c))
	same.Options["temperature"] = 0.5
	require.Equal(t, bound, bind(same, c), "the contract's temperature goes over the provider's")

	seen := map[string]string{bound: "the first"}
	for name, change := range map[string]func(*contracts.Target){
		"route":           func(t *contracts.Target) { t.Route = "other" },
		"provider":        func(t *contracts.Target) { t.Provider = "gpt2" },
		"type":            func(t *contracts.Target) { t.Type = "anthropic" },
		"model":           func(t *contracts.Target) { t.Model = "m-2" },
		"API":             func(t *contracts.Target) { t.API = "responses" },
		"base URL":        func(t *contracts.Target) { t.BaseURL = "https://b.example/v1" },
		"URL":             func(t *contracts.Target) { t.URL = "https://b.example/" },
		"an option":       func(t *contracts.Target) { t.Options["max_tokens"] = 201 },
		"a further one":   func(t *contracts.Target) { t.Options["top_p"] = 1 },
		"one less":        func(t *contracts.Target) { delete(t.Options, "stop") },
		"one inside":      func(t *contracts.Target) { t.Options["stop"] = []any{"b"} },
		"names run apart": func(t *contracts.Target) { t.Route, t.Provider = "summaryg", "pt" },
	} {
		target := base()
		change(&target)
		binding := bind(target, c)
		require.Empty(t, seen[binding], name)
		seen[binding] = name
	}
	require.Equal(t, bound, bind(base(), parse(t, summary+"\n# a comment\n")))
	require.Empty(t, seen[bind(base(), ruled(t, `[{type: is-json}]`))], "another contract")
}
