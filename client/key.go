package client

import (
	"crypto/rand"
	"fmt"
	"strings"
)

// maxKey is the longest idempotency key, in characters.
const maxKey = 255

// NewKey makes an idempotency key, as Submit does for a Request without one. Keep
// it where the intent is kept, and the intent can be submitted again at any time.
func NewKey() string { return "key_" + rand.Text() }

// keyHeader is key as the header holds it: bare, or as an RFC 8941 string where a
// bare one could be read otherwise.
func keyHeader(key string) (string, error) {
	if key == "" || len(key) > maxKey {
		return "", fmt.Errorf("client: the idempotency key is %d characters long: want 1 to %d", len(key), maxKey)
	}
	for i := range len(key) {
		if key[i] < 0x21 || key[i] > 0x7e {
			return "", fmt.Errorf("client: character %d of the idempotency key is not visible ASCII", i+1)
		}
	}
	if !strings.ContainsAny(key, `",;\`) {
		return key, nil
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`, nil
}
