package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxWait is the longest a request is held open, and what a bare wait asks for.
const maxWait = 60 * time.Second

// preferredWait reads the wait preference (RFC 7240 §4.3). ok is false when there
// is none, or none that can be honoured: such preferences are ignored, as the
// RFC has it. More than maxWait is taken as maxWait. Of several, the first counts.
func preferredWait(h http.Header) (wait time.Duration, ok bool) {
	for _, header := range h.Values("Prefer") {
		for _, preference := range splitOutsideQuotes(header, ',') {
			name, value := readPreference(preference)
			if strings.EqualFold(name, "wait") {
				return waitOf(value)
			}
		}
	}
	return 0, false
}

func waitOf(value string) (time.Duration, bool) {
	if value == "" {
		return maxWait, true
	}
	for _, digit := range value {
		if digit < '0' || digit > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(value)
	if err != nil { // more digits than an int has
		return maxWait, true
	}
	return time.Duration(min(n, int(maxWait/time.Second))) * time.Second, true
}

// readPreference splits `name=value;parameters`; an empty value is none (§2).
func readPreference(preference string) (name, value string) {
	first := splitOutsideQuotes(preference, ';')[0]
	name, value, _ = strings.Cut(first, "=")
	value = strings.TrimSpace(value)
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		value = value[1 : len(value)-1]
	}
	return strings.TrimSpace(name), value
}

// splitOutsideQuotes splits s at sep, but not within a quoted string (RFC 9110
// §5.6.4).
func splitOutsideQuotes(s string, sep byte) []string {
	var parts []string
	quoted, began := false, 0
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted && s[i] == sep:
			parts = append(parts, s[began:i])
			began = i + 1
		}
	}
	return append(parts, s[began:])
}
