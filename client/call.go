package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// call is one thing asked of the server, over all its tries.
type call struct {
	name         string // for errors and Attempted
	method, path string
	query        url.Values
	header       http.Header
	body         []byte
	key          string // of a submit
	// writes is set where the server changes something, so that no answer leaves
	// open whether it did.
	writes bool
	// once keeps a call from being repeated after the server may have got it.
	once bool
	// held is how long the server was asked to hold its answer.
	held time.Duration
	// endless tries go on for as long as the context does.
	endless bool
}

// answer is a whole answer with a status of success.
type answer struct {
	header http.Header
	body   []byte
}

// failure is what came of a try that was not answered with success.
type failure struct {
	err error
	// again is set where the same request may fare better later, arrived where the
	// server may have done what was asked, settles where its answer speaks for all
	// tries before it, too.
	again, arrived, settles bool
	// after is how long the server wants to be left alone.
	after time.Duration
}

// do makes the call, and makes it again until it is answered, refused, or its time
// is over.
func (c *Client) do(ctx context.Context, k call) (answer, error) {
	began, arrived := time.Now(), false
	for n := 1; ; n++ {
		a, f := c.try(ctx, k)
		if f == nil {
			return a, nil
		}
		arrived = (arrived || f.arrived) && !f.settles
		pause := max(c.backoff.pause(n), f.after)
		late := !k.endless && time.Since(began)+pause > c.retryFor
		if !f.again || k.once && arrived || late || ctx.Err() != nil {
			return answer{}, k.gaveUp(arrived, f.err)
		}
		c.onRetry(Attempted{Call: k.name, Try: n, Err: f.err, After: pause})
		if err := sleep(ctx, pause); err != nil {
			return answer{}, k.gaveUp(arrived, &waitedError{err, f.err})
		}
	}
}
