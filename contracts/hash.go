package contracts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"strconv"
)

// hashOf hashes values as JSON with sorted names, each with its length before it,
// so that no two lists of values run together.
func hashOf(what string, values ...any) (string, error) {
	h := sha256.New()
	frame(h, []byte("onejob "+what+" v1"))
	for _, value := range values {
		b, err := json.Marshal(value)
		if err != nil {
			return "", fmt.Errorf("hashing the %s: %w", what, err)
		}
		frame(h, b)
	}
	return "v1:" + hex.EncodeToString(h.Sum(nil)), nil
}

func frame(h hash.Hash, b []byte) {
	h.Write([]byte(strconv.Itoa(len(b)) + ":"))
	h.Write(b)
}
