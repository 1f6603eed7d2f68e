package config

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWebhooks(t *testing.T) {
	t.Parallel()
	const rest = "\nproviders: {inkjet: {type: simulated}}\nroutes: {print: {providers: [inkjet]}}\n"
	usual := Webhooks{Concurrency: 10, Timeout: 15 * time.Second}
	with := func(change func(*Webhooks)) Webhooks {
		w := usual
		change(&w)
		return w
	}
	everywhere := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	for text, c := range map[string]struct {
		want    Webhooks
		problem string // contained
	}{
		"":                                 {want: usual},
		"webhooks: {}":                     {want: usual},
		"webhooks: {concurrency: 3}":       {want: with(func(w *Webhooks) { w.Concurrency = 3 })},
		"webhooks: {timeout: 20s}":         {want: with(func(w *Webhooks) { w.Timeout = 20 * time.Second })},
		"webhooks: {allow_http: true}":     {want: with(func(w *Webhooks) { w.AllowHTTP = true })},
		"webhooks: {allow_private: true}":  {want: with(func(w *Webhooks) { w.AllowPrivate = everywhere })},
		"webhooks: {allow_private: false}": {want: usual},
		"webhooks: {allow_private: []}":    {want: usual},
		"webhooks: {allow_private: [10.1.2.3/8, \"fd00::/8\"]}": {want: with(func(w *Webhooks) {
			w.AllowPrivate = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
		})},
		"webhooks: {concurrency: 0}":            {problem: "webhooks.concurrency: \"0\" is out of range"},
		"webhooks: {timeout: 61s}":              {problem: "webhooks.timeout: 1m1s is more than 1m; a receiver answers first and works then"},
		"webhooks: {timeout: 15}":               {problem: "webhooks.timeout: \"15\" is not a duration"},
		"webhooks: {allow_private: [10.0.0.1]}": {problem: "webhooks.allow_private[0]: \"10.0.0.1\" is not a network; want CIDR notation, such as 10.0.0.0/8"},
		"webhooks: {allow_private: yes}":        {problem: "webhooks.allow_private: \"yes\" is neither true, false nor a list; want true, false, or a list of networks"},
		"webhooks: {allow_private: {}}":         {problem: "webhooks.allow_private"},
		"webhooks: {allow_private: [7]}":        {problem: "webhooks.allow_private[0]"},
		"webhooks: {allow_http: 1}":             {problem: "webhooks.allow_http"},
		"webhooks: {secret: x}":                 {problem: "webhooks.secret: unknown key"},
	} {
		got, err := Parse("f.yaml", []byte(text+rest), environment(nil))
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, c.want, got.Webhooks, text)
	}
}
