package dashboard

import (
	"bytes"
	"net/http"
	"strings"
)

// maxVerdict is how much of what asynqmon says went wrong is passed on, in bytes.
const maxVerdict = 4 << 10

// verdict is an answer of asynqmon's that is held back if it is a 500, which is what
// asynqmon answers to everything that goes wrong: also to a queue that is not there
// and to a task that has been run. Its text tells them apart, and stays as it is,
// because asynqmon's pages show it.
type verdict struct {
	http.ResponseWriter
	failed bool
	said   bytes.Buffer
}

func (v *verdict) WriteHeader(status int) {
	if v.failed = status >= http.StatusInternalServerError; !v.failed {
		v.ResponseWriter.WriteHeader(status)
	}
}

func (v *verdict) Write(b []byte) (int, error) {
	if !v.failed {
		return v.ResponseWriter.Write(b) //nolint:wrapcheck // what we are wrapped around
	}
	v.said.Write(b[:min(len(b), maxVerdict-v.said.Len())])
	return len(b), nil
}

// Unwrap lets http.ResponseController find what is beneath.
func (v *verdict) Unwrap() http.ResponseWriter { return v.ResponseWriter }

// finish sends what was held back.
func (v *verdict) finish() {
	if !v.failed {
		return
	}
	text := strings.TrimSpace(v.said.String())
	http.Error(v.ResponseWriter, text, verdictStatus(text))
}

// verdicts are words of asynq's errors (its inspector.go and internal/errors), and the
// status that says the same. The first that is found counts.
var verdicts = []struct {
	words  string
	status int
}{
	{"redis", http.StatusServiceUnavailable}, // "redis command error", "redis eval error", go-redis's own
	{"connect", http.StatusServiceUnavailable},
	{"timeout", http.StatusServiceUnavailable},
	{"not found", http.StatusNotFound},
	{"does not exist", http.StatusNotFound},
	{"cannot find", http.StatusNotFound},
	{"failed to fetch", http.StatusNotFound}, // numbers of a Prometheus, which we give asynqmon none of
	{"queue name", http.StatusBadRequest},    // is empty
	{"FAILED_PRECONDITION", http.StatusConflict},
	{"already", http.StatusConflict},
	{"is not paused", http.StatusConflict},
	{"not empty", http.StatusConflict},
	{"active", http.StatusConflict},
}

// verdictStatus is the status for what asynqmon says went wrong. All it does is ask
// Redis, so what is left is Redis's.
func verdictStatus(text string) int {
	for _, v := range verdicts {
		if strings.Contains(text, v.words) {
			return v.status
		}
	}
	return http.StatusServiceUnavailable
}
