package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"hash/crc32"
	"math/big"
	"strings"
)

// A secret is oj_, 32 random bytes in base 62, and a checksum of both: a typing
// error, a cut-off key or another product's is refused without asking Redis,
// and a scanner for leaked secrets can tell a real one.
const (
	secretPrefix  = "oj_"
	secretDigits  = 43 // 256 bits in base 62
	secretSum     = 6  // 32 bits in base 62
	secretLength  = len(secretPrefix) + secretDigits + secretSum
	base62Letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// newSecret makes a secret. crypto/rand ends the program rather than give
// numbers that can be guessed.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails, see its documentation
	body := secretPrefix + base62(new(big.Int).SetBytes(b[:]), secretDigits)
	return body + checksum(body)
}

// wellFormed tells whether s can be a secret at all.
func wellFormed(s string) bool {
	if len(s) != secretLength || !strings.HasPrefix(s, secretPrefix) {
		return false
	}
	body := s[:secretLength-secretSum]
	return s[len(body):] == checksum(body)
}

func checksum(body string) string {
	return base62(new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(body)))), secretSum)
}

// base62 writes n with leading zeros.
func base62(n *big.Int, digits int) string {
	out := make([]byte, digits)
	base, digit := big.NewInt(int64(len(base62Letters))), new(big.Int)
	for i := digits - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = base62Letters[digit.Int64()]
	}
	return string(out)
}

// digest is what is known of a secret.
func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// digestLength is that of a digest, in hexadecimal digits.
const digestLength = 2 * sha256.Size

// split cuts a digest in two: the name a record is found by, and the check it holds,
// 128 bits each. Looking up a name takes a time that may tell of names, which open
// nothing; the check is compared in a time that tells nothing (matches). Nobody could
// steer a SHA-256 by what he measured anyway; this way it does not have to be argued.
func split(sum string) (name, check string) {
	if len(sum) != digestLength {
		return "", ""
	}
	return sum[:digestLength/2], sum[digestLength/2:]
}

// matches compares two checks in constant time.
func matches(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
