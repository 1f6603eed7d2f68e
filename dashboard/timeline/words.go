package timeline

import (
	"fmt"
	"strings"
	"time"
)

// spanWords says what each kind of span is.
var spanWords = map[Kind]string{
	Pause:      "back-off",
	Queued:     "queued",
	Connecting: "connecting",
	Waiting:    "waiting for an answer",
	Receiving:  "answer arriving",
	Silence:    "silence",
	Unknown:    "unknown",
}

// Words says what a kind of span is.
func (k Kind) Words() string { return spanWords[k] }

// reasonWords are the reasons of attempts in words, where the name itself would
// leave a reader guessing.
var reasonWords = map[string]string{
	"timeout":              "no answer in time",
	"deadline":             "no answer until the deadline",
	"worker_lost":          "its worker vanished",
	"worker_stopped":       "its worker was stopped",
	"call_stopped":         "the call was stopped",
	"store_rewound":        "the store went back in time",
	"connection_lost":      "the connection broke",
	"answer_truncated":     "the answer was cut off",
	"answer_unreadable":    "the answer could not be read",
	"gateway_answer":       "a gateway answered, not the provider",
	"redirect_answer":      "it was answered with a redirect",
	"accepted_untraceable": "accepted, but nobody can ask about it",
	"slot_taken":           "another attempt had won",
	"attempt_failed":       "the attempt had been declared failed",
	"attempt_cancelled":    "the attempt had been cancelled",
	"attempt_discarded":    "the attempt had been shut out",
	"attempt_succeeded":    "the attempt had won already",
	"version_moved":        "the job had moved on",
	"settled":              "no answer can come any more",
	"never_arrived":        "it never reached the provider",
	"start_expired":        "it was not started in time",
	"not_sent":             "it was not sent",
	"circuit_open":         "the provider was left alone",
	"resolved_failed":      "declared failed by a person",
	"cancelled":            "cancelled by a person",
	"job_cancelled":        "the job was cancelled",
	"job_succeeded":        "another attempt won",
	"rejected":             "the provider said no",
	"busy":                 "the provider is busy",
	"rate_limited":         "the provider's rate limit",
}

// Words says a reason of an attempt in words.
func Words(reason string) string {
	if words, ok := reasonWords[reason]; ok {
		return words
	}
	return strings.ReplaceAll(reason, "_", " ")
}

// Took writes a while: two units at most, tenths of a second below a minute.
func Took(d time.Duration) string {
	switch {
	case d < 0:
		return "−" + Took(-d)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute-50*time.Millisecond:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + " s"
	}
	d = d.Round(time.Second)
	switch {
	case d < time.Hour:
		return two(int(d.Minutes()), "min", int(d.Seconds())%60, "s")
	case d < 24*time.Hour:
		return two(int(d.Hours()), "h", int(d.Minutes())%60, "min")
	}
	return two(int(d.Hours())/24, "d", int(d.Hours())%24, "h")
}

func two(big int, unit string, small int, smaller string) string {
	if small == 0 {
		return fmt.Sprintf("%d %s", big, unit)
	}
	return fmt.Sprintf("%d %s %d %s", big, unit, small, smaller)
}
