package webhook

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"onejob/e2e/program"
)

// seen is what the receiver says of one delivery: ok, or why the package refuses.
type seen struct {
	ID         string   `json:"id"`
	Status     int      `json:"status"`     // that it answered
	Verdicts   []string `json:"verdicts"`   // with each of its secrets
	Signatures int      `json:"signatures"` // in the header
	Body       string   `json:"body"`
	Tampered   string   `json:"tampered"` // the verdict on another body
	Stolen     string   `json:"stolen"`   // on another id
	Old        string   `json:"old"`      // on a time ten minutes ago
}

// receiver is a node process.
type receiver struct {
	t     *testing.T
	url   string
	lines chan seen
}

// newReceiver starts one that knows secrets and answers the first fail deliveries
// with 500.
func newReceiver(t *testing.T, fail int, secrets ...string) *receiver {
	t.Helper()
	arguments, err := json.Marshal(map[string]any{"secrets": secrets, "fail": fail})
	require.NoError(t, err)
	command := exec.Command("node", program.Script(t, "receiver.mjs"), string(arguments))
	command.Stderr = os.Stderr
	life, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	r := &receiver{t: t, lines: make(chan seen, 100)}
	var reading sync.WaitGroup
	t.Cleanup(func() {
		_ = life.Close()
		reading.Wait()
		_ = command.Wait()
	})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 10<<20)
	require.True(t, lines.Scan(), "the receiver does not start")
	var at struct{ Port int }
	require.NoError(t, json.Unmarshal(lines.Bytes(), &at))
	r.url = fmt.Sprintf("http://127.0.0.1:%d/hook", at.Port)
	reading.Go(func() {
		for lines.Scan() {
			var s seen
			if json.Unmarshal(lines.Bytes(), &s) == nil {
				r.lines <- s
			}
		}
	})
	return r
}

// next waits for a delivery.
func (r *receiver) next(ctx context.Context) seen {
	r.t.Helper()
	select {
	case s := <-r.lines:
		return s
	case <-ctx.Done():
		require.FailNow(r.t, "no delivery came")
	}
	return seen{}
}
