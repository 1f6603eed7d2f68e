package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAbout_CountsTheCommandsThatNameTheJob(t *testing.T) {
	t.Parallel()
	lines := []string{
		`1.000001 [0 127.0.0.1:1] "evalsha" "aa" "4" "oj:{1}:job:job_1" "oj:{1}:due"` + "\n",
		`1.000002 [0 lua] "SET" "oj:{1}:key:x" "y job_1" "NX"` + "\n",
		`1.000003 [0 127.0.0.1:1] "zcard" "oj:{1}:state:queued"` + "\n",
		`1.000004 [0 127.0.0.1:2] "evalsha" "bb" "4" "asynq:{instant}:pending" "asynq:{instant}:paused"` + "\n",
		`1.000005 [0 lua] "HGET" "asynq:{instant}:t:job_1-a1" "msg"` + "\n",
		`1.000006 [0 127.0.0.1:2] "evalsha" "bb" "4" "asynq:{instant}:pending" "asynq:{instant}:paused"` + "\n",
		`1.000007 [0 127.0.0.1:1] "evalsha" "aa" "4" "oj:{1}:job:job_2" "oj:{1}:due"` + "\n",
	}
	found := about(lines, "job_1")
	require.Len(t, found, 2, "what a script did names the job as well as what was sent")
	require.Equal(t, 1, of(found, "asynq:"))
	require.Equal(t, 1, of(found, "oj:"))
	require.Empty(t, about(lines, "job_3"))
}
