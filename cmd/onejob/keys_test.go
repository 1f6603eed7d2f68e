package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/redistest"
)

// TestKeys_CreateListRotateRevoke as an operator does it: a secret is shown once, alone
// on stdout, and nothing shows it again.
func TestKeys_CreateListRotateRevoke(t *testing.T) {
	t.Parallel()
	store := redistest.Real(t).Options()
	url := fmt.Sprintf("redis://%s/%d", store.Addr, store.DB)
	keys := func(want int, line string) (string, string) {
		t.Helper()
		var out, errs bytes.Buffer
		require.Equal(t, want, run(append([]string{"keys"}, append(strings.Fields(line), "--redis", url)...), &out, &errs), "%s%s", &out, &errs)
		return out.String(), errs.String()
	}
	list := func() (all []shownKey) {
		t.Helper()
		out, _ := keys(exitOK, "list --json")
		require.NoError(t, json.Unmarshal([]byte(out), &all))
		return all
	}

	secret, said := keys(exitOK, "create --owner shop --role viewer --label web --expires 1h")
	require.Regexp(t, `^oj_[0-9A-Za-z]{49}\n$`, secret)
	require.Contains(t, said, "owner shop, role viewer, until ")
	out, _ := keys(exitOK, "create --owner other --json")
	var made madeKey
	require.NoError(t, json.Unmarshal([]byte(out), &made))
	require.Regexp(t, `^oj_`, made.Key)
	require.Equal(t, "submit", string(made.Role))

	all := list()
	require.Len(t, all, 2)
	require.Equal(t, []string{"shop", "viewer", "web", "active"}, []string{all[0].Owner, string(all[0].Role), all[0].Label, all[0].State})
	require.WithinDuration(t, time.Now().Add(time.Hour), all[0].ExpiresAt, time.Minute)
	table, _ := keys(exitOK, "list")
	require.Contains(t, table, "STATE")
	require.Contains(t, table, "never")
	require.NotContains(t, table, strings.TrimSpace(secret))

	next, said := keys(exitOK, "rotate "+made.ID+" --overlap 10m")
	require.Regexp(t, `^oj_`, next)
	require.NotEqual(t, made.Key, strings.TrimSpace(next))
	require.Contains(t, said, made.ID+" works until ")
	all = list()
	require.Len(t, all, 3)
	require.WithinDuration(t, time.Now().Add(10*time.Minute), all[1].ExpiresAt, time.Minute)
	require.True(t, all[2].ExpiresAt.IsZero())
	_, _ = keys(exitOK, "rotate "+all[2].ID+" --overlap 0")
	require.Equal(t, "expired", list()[2].State)

	_, said = keys(exitOK, "revoke "+made.ID)
	require.Contains(t, said, "is revoked")
	for line, code := range map[string]int{
		"revoke " + made.ID:                     exitFailed,
		"rotate " + made.ID:                     exitFailed,
		"rotate":                                exitUsage,
		"rotate " + all[2].ID + " --overlap -1": exitUsage,
		"create --owner shop --role root":       exitUsage,
		"create --owner shop --expires -1h":     exitUsage,
	} {
		_, said := keys(code, line)
		require.NotEmpty(t, said, line)
	}
}
