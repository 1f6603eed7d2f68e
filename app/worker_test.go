package app

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShares(t *testing.T) {
	t.Parallel()
	for concurrency, want := range map[int][]int{
		1: {1}, 5: {5}, 6: {6}, 7: {4, 3}, 12: {6, 6}, 32: {6, 6, 5, 5, 5, 5}, 33: {6, 6, 6, 5, 5, 5},
		64: {6, 6, 6, 6, 6, 6, 6, 6, 6, 5, 5}, 96: slices.Repeat([]int{6}, 16),
		1000: slices.Concat(slices.Repeat([]int{63}, 8), slices.Repeat([]int{62}, 8)),
	} {
		require.Equal(t, want, shares(concurrency), concurrency)
	}
}
