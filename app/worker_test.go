package app

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShares(t *testing.T) {
	t.Parallel()
	for concurrency, want := range map[int][]int{
		1: {1}, 4: {4}, 5: {3, 2}, 8: {4, 4}, 9: {3, 3, 3}, 16: {4, 4, 4, 4}, 17: {4, 4, 3, 3, 3}, 64: slices.Repeat([]int{4}, 16),
		1000: slices.Concat(slices.Repeat([]int{63}, 8), slices.Repeat([]int{62}, 8)),
	} {
		require.Equal(t, want, shares(concurrency), concurrency)
	}
}
