package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
)

// fingerprint binds a key to one exact intent (design §7): two requests have the
// same one if and only if they name the same route and their bodies mean the
// same. v1 names the rule, so that a later one can be told from it.
func fingerprint(route string, canonicalBody []byte) string {
	h := sha256.New()
	writeCounted(h, []byte(route))
	writeCounted(h, canonicalBody)
	var sum [sha256.Size]byte
	return string(base64.RawURLEncoding.AppendEncode(append(make([]byte, 0, 48), "v1:"...), h.Sum(sum[:0])))
}

// writeCounted writes data after its length, so that no two sequences of parts
// run together into the same bytes.
func writeCounted(h hash.Hash, data []byte) {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(data)))
	h.Write(size[:])
	h.Write(data)
}
