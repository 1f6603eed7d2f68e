package api

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/labstack/echo/v4"

	"onejob/jobs"
)

// answer writes v as JSON, with text as it is: <, > and & are no danger in what
// no browser takes for HTML.
func answer(c echo.Context, status int, v any) error {
	body := bodies.Get().(*bytes.Buffer)
	if err := encode(body, v); err != nil {
		return err
	}
	h := c.Response().Header()
	if len(h["Cache-Control"]) == 0 {
		h["Cache-Control"] = noStore
	}
	h["Content-Type"] = isJSON
	c.Response().WriteHeader(status)
	if _, err := c.Response().Write(body.Bytes()); err != nil {
		return err //nolint:wrapcheck // the client is gone; whether somebody still reads the body nobody says
	}
	putBody(body)
	return nil
}

// bodies are buffers of answers that have been written.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// putBody gives a buffer to the next answer, unless it is one that few need.
func putBody(body *bytes.Buffer) {
	const most = 64 << 10
	if body.Cap() <= most {
		body.Reset()
		bodies.Put(body)
	}
}

// asEver are the rules of encoding/json, whose successor writes an answer in less
// than half the time.
var asEver = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false))

// encode writes v and the end of its line.
func encode(body *bytes.Buffer, v any) error {
	if err := json.MarshalWrite(body, v, asEver); err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	return body.WriteByte('\n') //nolint:wrapcheck // it never fails
}

// answerJob writes the job as it is now, with its ETag.
func answerJob(c echo.Context, status int, job *jobs.Job) error {
	callOf(c).jobID = job.ID
	c.Response().Header().Set("Etag", etag(job))
	return answer(c, status, job)
}

// etag is `"v<version>.<revision>"`: the version rises when a decision shuts out
// what still runs, the revision with every write (design §7).
func etag(job *jobs.Job) string {
	return `"v` + strconv.FormatInt(job.Version, 10) + "." + strconv.FormatInt(job.Revision, 10) + `"`
}

// answerAccepted answers a submission: 200 once the job has ended, before that
// 202 and when to look again.
func answerAccepted(c echo.Context, job *jobs.Job) error {
	h := c.Response().Header()
	h.Set("Location", locationOf(job))
	if job.State.Ended() {
		return answerJob(c, http.StatusOK, job)
	}
	h.Set("Retry-After", lookAgain(job))
	return answerJob(c, http.StatusAccepted, job)
}

func locationOf(job *jobs.Job) string { return "/v1/jobs/" + job.ID }

// lookAgain is how many seconds to leave between looks: an unknown outcome takes
// longer to settle than a call.
func lookAgain(job *jobs.Job) string {
	if job.State == jobs.Unknown {
		return "5"
	}
	return "1"
}
