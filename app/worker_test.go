package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShares(t *testing.T) {
	t.Parallel()
	for concurrency, want := range map[int][]int{
		1: {1}, 10: {10}, 16: {16}, 17: {9, 8}, 64: {16, 16, 16, 16}, 65: {13, 13, 13, 13, 13},
	} {
		require.Equal(t, want, shares(concurrency), concurrency)
	}
}
