package config

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The file with every key: what the table lists is refused by name, and nothing
// else is.
func TestNotYetRefusesByName(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/full.yaml")
	require.NoError(t, err)
	for _, entry := range notYet {
		t.Run(entry.path+" "+entry.value, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("full.yaml", data, environment(fullEnv), func(s *settings) { s.notYet = []later{entry} })
			got := problemsOf(t, err)
			require.NotEmpty(t, got, "full.yaml does not use this key, or nothing refuses it")
			for _, problem := range got {
				require.Contains(t, problem, "this release does not support "+entry.feature+" yet")
			}
		})
	}
	t.Run("nothing else", func(t *testing.T) {
		t.Parallel()
		_, err := Parse("full.yaml", data, environment(fullEnv))
		for _, problem := range problemsOf(t, err) {
			require.Contains(t, problem, "this release does not support")
		}
	})
}

func TestNotYet(t *testing.T) {
	t.Parallel()
	table := []later{{"providers.*.settles_after", "", "settling"}, {"providers.*.type", "http", "http"}}
	parse := func(provider string) error {
		data := "providers: {a: {" + provider + "}}\nroutes: {r: {providers: [a]}}\n"
		_, err := Parse("x.yaml", []byte(data), nil, func(s *settings) { s.notYet = table })
		return err
	}
	requireOne(t, "providers.a.settles_after: this release does not support settling yet; take the key out",
		parse("type: simulated, settles_after: 1ms")) // its other mistakes are not told
	requireOne(t, "providers.a.settles_after: this release does not support settling yet; take the key out",
		parse("type: simulated, settles_after: 15m"))
	requireOne(t, "providers.a.type: this release does not support http yet; choose another", parse("type: http"))
	require.NoError(t, parse("type: simulated, options: {settles_after: 1, type: http}"))
}

// The example of design §8, with its ellipses filled in, reads as it is shown.
func TestTheDesignsExample(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/design.yaml")
	require.NoError(t, err)
	_, err = Parse("onejob.yaml", data, environment(map[string]string{"OPENAI_API_KEY": "k"}), complete)
	require.NoError(t, err)
	_, err = Parse("onejob.yaml", data, environment(map[string]string{"OPENAI_API_KEY": "k"}))
	for _, problem := range problemsOf(t, err) {
		require.Contains(t, problem, "this release does not support")
	}
}

// Two listeners of one machine may share a port at different addresses, and port 0
// is another one each time.
func TestAdminAddr(t *testing.T) {
	t.Parallel()
	for _, server := range []string{
		`{addr: "127.0.0.1:0", admin_addr: "127.0.0.1:0"}`,
		`{addr: "10.0.0.1:8080", admin_addr: "127.0.0.1:8080"}`,
		`{addr: ":8080", admin_addr: "127.0.0.1:9090"}`,
	} {
		_, err := Parse("x.yaml", []byte("server: "+server+"\nproviders: {a: {type: simulated}}\nroutes: {r: {providers: [a]}}\n"), nil)
		require.NoError(t, err, server)
	}
}
