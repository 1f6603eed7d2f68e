package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// request builds the request of one try.
func (c *Client) request(ctx context.Context, k call) (*http.Request, error) {
	u := *c.base
	u.Path += k.path
	u.RawQuery = k.query.Encode()
	r, err := http.NewRequestWithContext(ctx, k.method, u.String(), bytes.NewReader(k.body))
	if err != nil {
		return nil, fmt.Errorf("making a request: %w", err)
	}
	maps.Copy(r.Header, k.header)
	if k.key != "" {
		// net/http would send a POST with an Idempotency-Key again by itself, and
		// nobody would be told of the try.
		r.GetBody = nil
	}
	if k.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if r.Header.Get("Accept") == "" {
		r.Header.Set("Accept", "application/json, application/problem+json")
	}
	c.authorize(r.Header)
	return r, nil
}

// try makes the call once, within the time one try has.
func (c *Client) try(ctx context.Context, k call) (answer, *failure) {
	limited, cancel := context.WithTimeout(ctx, c.patience+k.held)
	defer cancel()
	r, err := c.request(limited, k)
	if err != nil {
		return answer{}, &failure{err: err}
	}
	response, err := c.http.Do(r)
	if err != nil {
		return answer{}, unanswered(ctx, limited, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode >= http.StatusMultipleChoices {
		return answer{}, refusal(response)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, unanswered(ctx, limited, fmt.Errorf("the answer was cut off: %w", err))
	}
	if !isJSON(response.Header) {
		return answer{}, &failure{err: fmt.Errorf("%s answered with %q, which is no job: is this the address of a onejob server?",
			c.base.Host, response.Header.Get("Content-Type"))}
	}
	if !json.Valid(body) {
		return answer{}, &failure{err: errors.New("the answer did not arrive whole"), again: true, arrived: true}
	}
	return answer{response.Header, body}, nil
}

// errStalled is a try that took longer than a try may take. It is no
// context.DeadlineExceeded: the caller's own context still runs.
var errStalled = errors.New("no answer within the time of one try")

// unanswered judges a try that brought no whole answer.
func unanswered(ctx, limited context.Context, err error) *failure {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // which holds the address once more
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case limited.Err() != nil:
		err = errStalled
	}
	return &failure{err: err, again: true, arrived: !neverSent(err)}
}

// neverSent tells whether there was no connection to send anything over. All else
// is taken to have arrived.
func neverSent(err error) bool {
	if dialed, ok := errors.AsType[*net.OpError](err); ok && dialed.Op == "dial" {
		return true
	}
	_, ok := errors.AsType[*net.DNSError](err)
	return ok
}

func isJSON(h http.Header) bool {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}
