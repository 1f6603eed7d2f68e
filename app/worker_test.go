package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShares(t *testing.T) {
	t.Parallel()
	for concurrency, want := range map[int][]int{
		1: {1}, 5: {5}, 8: {8}, 9: {5, 4}, 16: {8, 8}, 32: {8, 8, 8, 8}, 33: {7, 7, 7, 6, 6},
	} {
		require.Equal(t, want, shares(concurrency), concurrency)
	}
}
