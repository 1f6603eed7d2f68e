package api

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"onejob/jobs"
)

var entityTag = regexp.MustCompile(`^"v([1-9][0-9]{0,17})(?:\.[0-9]+)?"$`)

// expectedVersion reads the version a write expects from If-Match; 0 means any.
// Only the version part of the ETag is compared (design §7): it rises when a
// decision was made, while the revision rises with every beat.
func expectedVersion(h http.Header) (int64, *Problem) {
	values := h.Values("If-Match")
	if len(values) == 0 || len(values) == 1 && strings.TrimSpace(values[0]) == "*" {
		return 0, nil
	}
	match := entityTag.FindStringSubmatch(strings.TrimSpace(strings.Join(values, ",")))
	if match == nil {
		return 0, newProblem(&problemRequestInvalid, "The If-Match header is not an ETag of a job.").at("If-Match").
			hint(`Send one ETag as GET /v1/jobs/{id} gave it, such as "v3.7", or leave the header out.`)
	}
	version, _ := strconv.ParseInt(match[1], 10, 64) // 18 digits fit
	return version, nil
}

// notModified tells whether the caller has the job as it is (RFC 9110 §13.1.2:
// a weak comparison, and * for whatever there is).
func notModified(h http.Header, job *jobs.Job) bool {
	for _, value := range h.Values("If-None-Match") {
		for tag := range strings.SplitSeq(value, ",") {
			tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
			if tag == "*" || tag == etag(job) {
				return true
			}
		}
	}
	return false
}
