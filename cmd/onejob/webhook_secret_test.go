package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
)

func TestKeys_WebhookSecret(t *testing.T) {
	t.Parallel()
	url := "redis://" + miniredis.RunT(t).Addr()
	call := func(line string) (out, errs string) {
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitOK, run(strings.Fields("keys webhook-secret --redis "+url+" "+line), &stdout, &stderr), stderr.String())
		return stdout.String(), stderr.String()
	}
	made, said := call("acme")
	require.Regexp(t, `^whsec_[A-Za-z0-9+/]{43}=\n$`, made, "nothing but the secret, for scripts")
	require.Equal(t, "owner acme: made now\n", said)
	again, said := call("acme")
	require.Equal(t, made, again)
	require.Contains(t, said, "owner acme: made 20")

	rotated, said := call("acme --rotate --overlap 2h")
	require.NotEqual(t, made, rotated)
	require.Contains(t, said, "the one before signs along until")
	text, said := call("acme --json")
	var shown shownSecret
	require.NoError(t, json.Unmarshal([]byte(text), &shown))
	require.Equal(t, strings.TrimSpace(rotated), shown.Secret)
	require.Equal(t, "acme", shown.Owner)
	require.False(t, shown.Made)
	require.WithinDuration(t, time.Now().Add(2*time.Hour), shown.PreviousUntil, time.Minute)
	require.Empty(t, said)
	_, said = call("acme --rotate --overlap 0s")
	require.NotContains(t, said, "signs along")
}

func TestKeys_WebhookSecretMistakes(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "a b", "acme --overlap 1h", "acme --rotate --overlap -1h", "acme --rotate --overlap soon", "é"} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitUsage, run(strings.Fields("keys webhook-secret --redis redis://127.0.0.1:1 "+line), &stdout, &stderr), line)
		require.Empty(t, stdout.String())
	}
}
