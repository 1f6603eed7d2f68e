package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	words := []string{"url", "timeout", "deadline", "settles_after", "a"}
	tests := map[string]string{
		"ulr": "url", "time_out": "timeout", "Timeout": "timeout", "timeouts": "timeout", "dedline": "deadline",
		"settle_after": "settles_after", "c": "", "password": "", "": "", "lru": "", strings.Repeat("x", 100): "",
	}
	for word, want := range tests {
		require.Equal(t, want, didYouMean(word, words), word)
	}
}
