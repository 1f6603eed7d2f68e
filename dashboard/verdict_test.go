package dashboard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What asynq says, to the letter, as asynqmon passes it on with a 500.
func TestVerdictStatus(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]int{
		`NOT_FOUND: queue "webhooks" does not exist`:                                                       404,
		`asynq: queue not found`:                                                                           404,
		`asynq: task not found`:                                                                            404,
		`NOT_FOUND: INTERNAL_ERROR: queue "no-such" does not exist`:                                        404,
		`NOT_FOUND: cannot find task with id=x in queue "laser"`:                                           404,
		`failed to fetch "asynq_queue_size{QUEUE_FILTER}": Get "/api/v1/query": unsupported protocol`:      404,
		`asynq: FAILED_PRECONDITION: cannot archive task in active state. use CancelProcessing instead.`:   409,
		`asynq: FAILED_PRECONDITION: task is already archived: id=x, queue=y`:                              409,
		`queue is not empty: queue="laser"`:                                                                409,
		`asynq: queue name must contain one or more characters`:                                            400,
		`UNKNOWN: redis command error: SMEMBERS failed: dial tcp 127.0.0.1:1: connect: connection refused`: 503,
		`dial tcp 127.0.0.1:1: connect: connection refused`:                                                503,
		`queue "webhooks" is not paused`:                                                                   409,
		`something nobody has thought of`:                                                                  503,
	} {
		require.Equal(t, want, verdictStatus(said), said)
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	v := &verdict{ResponseWriter: w}
	http.Error(v, "asynq: task not found"+strings.Repeat("!", maxVerdict), http.StatusInternalServerError)
	v.finish()
	require.Equal(t, http.StatusNotFound, w.Code)
	require.LessOrEqual(t, w.Body.Len(), maxVerdict+1)

	w = httptest.NewRecorder()
	v = &verdict{ResponseWriter: w}
	_, err := v.Write([]byte("well"))
	require.NoError(t, err)
	v.finish()
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "well", w.Body.String())
}
