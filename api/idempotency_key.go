package api

import (
	"net/http"
	"strings"

	"github.com/dunglas/httpsfv"
)

// headerKey is the header of draft-ietf-httpapi-idempotency-key-header.
const headerKey = "Idempotency-Key"

// maxKeyLength is the longest key, in characters.
const maxKeyLength = 255

// idempotencyKey reads the one key of a request: an RFC 8941 string, as the
// draft asks for, or the bare token that most clients send. `"k1"` and `k1` are
// one key. Keys are compared byte by byte: K and k are two.
func idempotencyKey(h http.Header) (string, *Problem) {
	values := h.Values(headerKey)
	switch {
	case len(values) == 0, len(values) == 1 && values[0] == "":
		return "", newProblem(&problemKeyMissing, "This call makes a job, and a job needs a key.").at(headerKey)
	case len(values) > 1:
		return "", invalidKey("The header was sent %d times; one request has one key.", len(values))
	}
	return parseKey(values[0])
}

// parseKey reads a key as a header, or the idempotency_key parameter of a list,
// holds it.
func parseKey(value string) (string, *Problem) {
	key := value
	if strings.HasPrefix(value, `"`) {
		item, err := httpsfv.UnmarshalItem([]string{value})
		if err != nil {
			return "", invalidKey("The quoted key is not a string as RFC 8941 has it.").because(err)
		}
		quoted, ok := item.Value.(string)
		if !ok || len(item.Params.Names()) > 0 {
			return "", invalidKey("The quoted key must be a string without parameters.")
		}
		key = quoted
	} else if strings.ContainsAny(value, `",;\`) {
		// A comma is what a proxy joins two headers with, a semicolon begins a
		// parameter: neither may silently become part of a key.
		return "", invalidKey(`A key that holds a quote, comma, semicolon or backslash must be sent as a quoted string.`)
	}
	return checkKey(key)
}

func checkKey(key string) (string, *Problem) {
	if key == "" || len(key) > maxKeyLength {
		return "", invalidKey("The key is %d characters long; 1 to %d are allowed.", len(key), maxKeyLength)
	}
	for i := range len(key) {
		if key[i] < 0x21 || key[i] > 0x7e {
			return "", invalidKey("Character %d of the key is not a visible ASCII character.", i+1)
		}
	}
	return key, nil
}

func invalidKey(detail string, args ...any) *Problem {
	return newProblem(&problemKeyInvalid, detail, args...).at(headerKey)
}
