package auth

import (
	"math/big"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`^oj_[0-9A-Za-z]{49}$`)
	seen := map[string]bool{}
	for range 1000 {
		s := newSecret()
		require.Regexp(t, shape, s)
		require.True(t, wellFormed(s))
		require.False(t, seen[s])
		seen[s] = true
	}
}

// The digits are enough for 256 bits, and for those of the checksum.
func TestBase62(t *testing.T) {
	t.Parallel()
	require.Equal(t, "0010", base62(big.NewInt(62), 4))
	largest := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	limit := new(big.Int).Exp(big.NewInt(62), big.NewInt(secretDigits), nil)
	require.Negative(t, largest.Cmp(limit))
	require.Equal(t, "4gfFC3", base62(big.NewInt(1<<32-1), secretSum))
}

// Stored digests outlive releases: this value must never change.
func TestDigestIsPinned(t *testing.T) {
	t.Parallel()
	require.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", digest("abc"))
	require.True(t, wellFormed("oj_0000000000000000000000000000000000000000000"+checksum("oj_0000000000000000000000000000000000000000000")))
}
