package jobs_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// TestTime_JSON: RFC 3339 in UTC with three decimals, and back.
func TestTime_JSON(t *testing.T) {
	t.Parallel()
	for _, at := range []jobs.Time{
		-1, -62135596800000, 1, 7, 70, 700, 999, 1000, 1796049741450, 1796049741005, 951782400000,
		253402300799999, 253402300800000,
	} {
		b, err := json.Marshal(at)
		require.NoError(t, err)
		require.Equal(t, time.UnixMilli(int64(at)).UTC().Format(`"2006-01-02T15:04:05.000Z"`), string(b))
		if at > 253402300799999 {
			continue // five digits of a year are no RFC 3339
		}
		var back jobs.Time
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, at, back)
	}
	b, err := json.Marshal(jobs.Time(0))
	require.NoError(t, err)
	require.Equal(t, "null", string(b))
}
