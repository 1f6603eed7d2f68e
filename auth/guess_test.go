package auth

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// guessOf is a well-formed key that shares all but the last of its random digits with
// secret.
func guessOf(secret string) string {
	body := secret[:secretLength-secretSum]
	last := byte('0')
	if body[len(body)-1] == last {
		last = '1'
	}
	body = body[:len(body)-1] + string(last)
	return body + checksum(body)
}

// What a guess costs cannot depend on how near it is, by the way keys are found: the
// only thing of a token that is looked up or compared is its SHA-256, of which a guess
// that is one character off shares nothing. That says more than a measurement: it
// holds on every machine, and it breaks at once where somebody compares tokens.
func TestOnlyTheDigestOfAGuessIsLookedUp(t *testing.T) {
	t.Parallel()
	client := newClient(t, "tcp", miniredis.RunT(t).Addr())
	b := setup(t, client)
	secret, _, err := b.Create(t.Context(), "acme", Submit, "", time.Time{})
	require.NoError(t, err)
	heard := &commands{}
	client.AddHook(heard)
	guess := guessOf(secret)
	for range 2 {
		_, err = b.Authenticate(t.Context(), guess)
		require.ErrorIs(t, err, ErrUnauthorized)
	}
	require.NotEmpty(t, heard.all())
	const piece = 6
	for i := range len(guess) - piece {
		if part := guess[i : i+piece]; !strings.HasPrefix(part, secretPrefix) {
			require.NotContains(t, heard.all(), part, "a part of the token is in what the store is asked")
		}
	}
	near, mine := digest(guess), digest(secret)
	same := 0
	for i := range near {
		if near[i] == mine[i] {
			same++
		}
	}
	require.Less(t, same, 20, "of 64 digits, 4 are alike by chance")
}

// The measurement beside it: medians of many calls in turns, of guesses that are
// nearly right and of such as are not at all. Its bound is loose, because it must hold
// on a machine that does other things; what it is to see is a look-up or a comparison
// more on one of the two ways.
func TestANearGuessTakesAsLongAsAnother(t *testing.T) {
	t.Parallel()
	b := setup(t, newClient(t, "tcp", miniredis.RunT(t).Addr()))
	const guesses, rounds = 100, 100
	var near, far []string
	for range guesses {
		secret, _, err := b.Create(t.Context(), "acme", Submit, "", time.Time{})
		require.NoError(t, err)
		near, far = append(near, guessOf(secret)), append(far, newSecret())
	}
	took := map[bool][]time.Duration{}
	ask := func(token string) time.Duration {
		began := time.Now()
		_, err := b.Authenticate(t.Context(), token)
		d := time.Since(began)
		require.ErrorIs(t, err, ErrUnauthorized)
		return d
	}
	for round := range rounds + 1 {
		for i := range guesses {
			n, f := ask(near[i]), ask(far[i])
			if round > 0 { // the first asks the store
				took[true], took[false] = append(took[true], n), append(took[false], f)
			}
		}
	}
	median := func(d []time.Duration) float64 { slices.Sort(d); return float64(d[len(d)/2]) }
	ratio := median(took[true]) / median(took[false])
	t.Logf("near: %.0f ns, far: %.0f ns", median(took[true]), median(took[false]))
	require.InDelta(t, 1, ratio, 0.3)
}

// commands are what a store has been asked.
type commands struct {
	mu   sync.Mutex
	text strings.Builder
}

func (c *commands) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

func (c *commands) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (c *commands) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.mu.Lock()
		_, _ = fmt.Fprintln(&c.text, cmd.Args()...)
		c.mu.Unlock()
		return next(ctx, cmd)
	}
}

func (c *commands) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
