package jobs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRecordFields: every field goes to whom it belongs.
func TestRecordFields(t *testing.T) {
	t.Parallel()
	var f recordFields
	f.add([]any{
		"state", "running", "e1", "a line", "2.state", "starting", "1.state", "failed", "h2.event", "job.failed", "hooks", "2",
		"error_code", "x", "hold", "y", "e", "z", "e1x", "z", "1", "no field", "h3", "none", "12345678901.state", "no number",
	})
	f.add([]any{"input", "{}", "1.error", "why", "e2", "another", "h1.at", "3"})
	require.Equal(t, fieldList{
		"state", "running", "hooks", "2", "error_code", "x", "hold", "y", "e", "z", "e1x", "z", "1", "no field", "h3", "none",
		"12345678901.state", "no number", "input", "{}",
	}, f.own)
	require.Equal(t, []numberedFields{
		{1, fieldList{"state", "failed", "error", "why"}}, {2, fieldList{"state", "starting"}},
	}, f.attempts)
	require.Equal(t, []numberedFields{{1, fieldList{"at", "3"}}, {2, fieldList{"event", "job.failed"}}}, f.deliveries)
	require.Equal(t, "y", f.own.at("hold"))
	require.Empty(t, f.own.at("running"), "a value is no name")
	require.Empty(t, f.own.at("metadata"))
}
