package replicate

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"onejob/providers"
)

// envelope recognises {"detail", title?, status?, type?} (Replicate, and Cog,
// where detail may be a list of what is wrong with the input) and {"error"} (newer
// servers of Cog).
func envelope(a providers.Answer) (providers.Refusal, bool) {
	var body struct {
		Title  string          `json:"title"`
		Detail json.RawMessage `json:"detail"`
		Error  json.RawMessage `json:"error"`
	}
	if json.Unmarshal(a.Body, &body) != nil {
		return providers.Refusal{}, false
	}
	message := body.Title
	for _, raw := range []json.RawMessage{body.Detail, body.Error} {
		if detail := detailOf(raw); detail != "" {
			message = detail
		}
	}
	said := strings.ToLower(message)
	return providers.Refusal{
		Message:    message,
		Content:    strings.Contains(said, "nsfw") || strings.Contains(said, "flagged as sensitive"),
		Busy:       strings.Contains(said, "already running") || strings.Contains(said, "at capacity"),
		RetryAfter: resets(message),
	}, message != ""
}

// detailOf is a text, or the messages of a list of {loc, msg}.
func detailOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var faults []struct {
		Message string `json:"msg"`
	}
	if json.Unmarshal(raw, &faults) == nil {
		said := make([]string, 0, len(faults))
		for _, fault := range faults {
			said = append(said, fault.Message)
		}
		return strings.Join(said, "; ")
	}
	var object struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(raw, &object) // what is none has no message
	return object.Message
}

// resetsIn is how Replicate says in a 429 when to come back: "… resets in ~30s."
var resetsIn = regexp.MustCompile(`resets in ~?\s*(\d{1,6})\s*(ms|s|m|h)\b`)

func resets(message string) time.Duration {
	found := resetsIn.FindStringSubmatch(message)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return 0
	}
	unit := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour}
	return time.Duration(n) * unit[found[2]]
}
