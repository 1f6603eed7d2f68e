package jobs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRecordFields: every field goes to whom it belongs.
func TestRecordFields(t *testing.T) {
	t.Parallel()
	f, err := readFields("job_1", []any{
		"e1", "a line", "input", "{}", "2.error", "why", "e2", "another", "h1.error", "refused",
		"small", "failed\t3\t\t4\n2\tfailed\tinkjet\n4\tstarting\nh1\tjob.failed\to\no=OP=won=", "v", "1",
	})
	require.NoError(t, err)
	require.Equal(t, fieldList{"state", "failed", "version", "3", "attempts", "4", "input", "{}"}, f.own)
	require.Equal(t, []numberedFields{
		{2, fieldList{"state", "failed", "provider", "inkjet", "error", "why"}}, {4, fieldList{"state", "starting"}},
	}, f.attempts)
	require.Equal(t, []numberedFields{{1, fieldList{"event", "job.failed", "at", "o", "error", "refused"}}}, f.deliveries)
	require.Equal(t, "3", f.own.at("version"))
	require.Empty(t, f.own.at("failed"), "a value is no name")
	require.Empty(t, f.own.at("metadata"))
}
