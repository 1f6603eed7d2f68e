package app

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShares(t *testing.T) {
	t.Parallel()
	for concurrency, want := range map[int][]int{
		1: {1}, 5: {5}, 8: {8}, 9: {5, 4}, 16: {8, 8}, 32: {8, 8, 8, 8}, 33: {7, 7, 7, 6, 6}, 128: slices.Repeat([]int{8}, 16),
		1000: slices.Concat(slices.Repeat([]int{63}, 8), slices.Repeat([]int{62}, 8)),
	} {
		require.Equal(t, want, shares(concurrency), concurrency)
	}
}
