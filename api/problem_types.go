package api

import "net/http"

// problemType is one row of the table of problems. Clients branch on the name,
// which ends the problem's type URL; a name once released keeps its meaning.
type problemType struct {
	Name   string
	Status int
	Title  string // the same for every occurrence (RFC 9457 §3.1.3)
	Hint   string // what to do, where an occurrence says nothing better
	// Final tells SDKs by x-should-retry: false not to send the same request
	// again: they would retry a 409 by themselves.
	Final bool
}

// The problems of this API (design §7).
var (
	problemKeyMissing = problemType{
		Name: "idempotency-key-missing", Status: http.StatusBadRequest,
		Title: "The Idempotency-Key header is missing",
		Hint:  "Send an Idempotency-Key of 1 to 255 visible ASCII characters; choose a new one for every new intent and keep it when you retry.",
	}
	problemKeyInvalid = problemType{
		Name: "idempotency-key-invalid", Status: http.StatusBadRequest,
		Title: "The Idempotency-Key header is not usable",
		Hint:  "Send one Idempotency-Key header: a bare token or a quoted string of 1 to 255 visible ASCII characters.",
	}
	problemKeyReused = problemType{
		Name: "idempotency-key-reused", Status: http.StatusConflict,
		Title: "The idempotency key belongs to another request", Final: true,
		Hint: "A key names one exact intent for ever. Send the first body again to get its job, or choose a new key for the new intent.",
	}
	problemKeyExpired = problemType{
		Name: "idempotency-key-expired", Status: http.StatusGone,
		Title: "The job of this idempotency key has expired", Final: true,
		Hint: "The job ran and its record is no longer kept; it is not run again. Choose a new key if you want the work done once more.",
	}
	problemRequestInvalid = problemType{
		Name: "request-invalid", Status: http.StatusBadRequest,
		Title: "The request cannot be understood",
		Hint:  "Correct the request as detail says. Nothing was written.",
	}
	problemRequestTooLarge = problemType{
		Name: "request-too-large", Status: http.StatusRequestEntityTooLarge,
		Title: "The request body is too large",
		Hint:  "Keep the body within 1 MiB: put large inputs where the provider can fetch them and send their address.",
	}
	problemMediaType = problemType{
		Name: "media-type-unsupported", Status: http.StatusUnsupportedMediaType,
		Title: "The media type of the body is not supported",
		Hint:  "Send JSON in UTF-8 with Content-Type: application/json and no Content-Encoding.",
	}
	problemRouteUnknown = problemType{
		Name: "route-unknown", Status: http.StatusUnprocessableEntity,
		Title: "There is no such route",
		Hint:  "Use one of the routes in allowed, or add the route to the configuration.",
	}
	problemUnauthorized = problemType{
		Name: "unauthorized", Status: http.StatusUnauthorized,
		Title: "The credentials are missing or not valid",
		Hint:  "Send Authorization: Bearer with a key made by onejob keys create.",
	}
	problemForbidden = problemType{
		Name: "forbidden", Status: http.StatusForbidden,
		Title: "The credentials do not allow this",
		Hint:  "Use a key whose role allows it; onejob keys create --role makes one.",
	}
	problemNotFound = problemType{
		Name: "not-found", Status: http.StatusNotFound,
		Title: "There is no such thing here",
		Hint:  "Check the address. A job is shown to its owner only, and no longer once its record has expired.",
	}
	problemMethod = problemType{
		Name: "method-not-allowed", Status: http.StatusMethodNotAllowed,
		Title: "The method is not allowed here",
		Hint:  "Use one of the methods in the Allow header.",
	}
	problemAttemptUnresolved = problemType{
		Name: "attempt-unresolved", Status: http.StatusConflict,
		Title: "An attempt of this job is not settled yet", Final: true,
		Hint: "Wait for it, or cancel that attempt if you accept that its call may still have an effect.",
	}
	problemAttemptSettled = problemType{
		Name: "attempt-settled", Status: http.StatusConflict,
		Title: "The attempt has ended already", Final: true,
		Hint: "What an attempt ended with never changes. Read the job to see it.",
	}
	problemAttemptNotUnknown = problemType{
		Name: "attempt-not-unknown", Status: http.StatusConflict,
		Title: "The outcome of this attempt is not in doubt", Final: true,
		Hint: "Only an unknown attempt can be resolved as succeeded or failed. Wait for it, or cancel it.",
	}
	problemJobFinal = problemType{
		Name: "job-final", Status: http.StatusConflict,
		Title: "The job has ended and cannot be changed that way", Final: true,
		Hint: "Read the job to see how it ended. Submit a new job under a new key to have the work done again.",
	}
	problemVersionMismatch = problemType{
		Name: "version-mismatch", Status: http.StatusPreconditionFailed,
		Title: "The job has moved on since the version you expected", Final: true,
		Hint: "Read the job again, look at what changed, and repeat the request with its new ETag if you still want it.",
	}
	problemRateLimited = problemType{
		Name: "rate-limited", Status: http.StatusTooManyRequests,
		Title: "Too many requests",
		Hint:  "Wait as long as Retry-After says and send the same request again with the same key.",
	}
	problemStoreUnavailable = problemType{
		Name: "store-unavailable", Status: http.StatusServiceUnavailable,
		Title: "The store cannot be reached",
		Hint:  "Send the same request again with the same key after Retry-After. Whether this one was recorded is not known; the key keeps it from being done twice.",
	}
	problemRecordNewer = problemType{
		Name: "record-newer", Status: http.StatusServiceUnavailable,
		Title: "The job was written by a newer onejob",
		Hint:  "Send the same request again with the same key after Retry-After: a process of the newer version answers it. If none does, the operator has to bring that version back.",
	}
	problemInternal = problemType{
		Name: "internal", Status: http.StatusInternalServerError,
		Title: "The server made a mistake",
		Hint:  "Send the same request again with the same key. If it stays, report the request_id to the operator.",
	}
)

// problemTypes lists the whole table in the order it is documented in.
var problemTypes = []*problemType{
	&problemKeyMissing, &problemKeyInvalid, &problemKeyReused, &problemKeyExpired,
	&problemRequestInvalid, &problemRequestTooLarge, &problemMediaType, &problemRouteUnknown,
	&problemUnauthorized, &problemForbidden, &problemNotFound, &problemMethod,
	&problemAttemptUnresolved, &problemAttemptSettled, &problemAttemptNotUnknown,
	&problemJobFinal, &problemVersionMismatch, &problemRateLimited,
	&problemStoreUnavailable, &problemRecordNewer, &problemInternal,
}

// problemNamed finds a row by its name; nil when there is none.
func problemNamed(name string) *problemType {
	for _, t := range problemTypes {
		if t.Name == name {
			return t
		}
	}
	return nil
}
