package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client talks to one onejob server with one API key. It is safe for concurrent
// use and holds nothing that has to be closed.
type Client struct {
	base *url.URL
	// authorize is a function so that no way of printing a Client shows the key.
	authorize func(http.Header)
	http      *http.Client
	patience  time.Duration
	retryFor  time.Duration
	hold      time.Duration
	silence   time.Duration
	onRetry   func(Attempted)
	backoff   backoff
}

// Defaults of a Client.
const (
	defaultPatience = 20 * time.Second
	defaultRetryFor = time.Minute
	defaultHold     = 25 * time.Second // most balancers give an answer 30 s or more
	// defaultSilence is three heartbeats of an event stream.
	defaultSilence = 45 * time.Second
)

// New returns a client for the server at address, such as https://jobs.example,
// which authenticates with apiKey. The address may have a path, if the server is
// behind one. Nothing is sent yet.
func New(address, apiKey string, opts ...Option) (*Client, error) {
	base, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	if apiKey == "" {
		return nil, errors.New("client: the API key is empty: onejob keys create makes one")
	}
	if strings.ContainsFunc(apiKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("client: the API key has a blank or another character that no key has")
	}
	c := &Client{
		base:      base,
		authorize: func(h http.Header) { h.Set("Authorization", "Bearer "+apiKey) },
		http:      &http.Client{},
		patience:  defaultPatience, retryFor: defaultRetryFor, hold: defaultHold, silence: defaultSilence,
		onRetry: func(Attempted) {},
		backoff: backoff{first: 100 * time.Millisecond, most: 5 * time.Second},
	}
	for _, opt := range opts {
		opt(c)
	}
	own := *c.http // the caller's stays as it is
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &own
	return c, nil
}

func parseAddress(address string) (*url.URL, error) {
	base, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("client: the server's address: %w", errors.Unwrap(err))
	}
	switch {
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("client: the server's address %q is not like https://host or http://host:port", base.Redacted())
	case base.User != nil:
		return nil, errors.New("client: the server's address has credentials in it: give the API key by itself")
	case base.RawQuery != "" || base.Fragment != "":
		return nil, fmt.Errorf("client: the server's address %q has a query or a fragment", address)
	}
	base.Path = strings.TrimRight(base.Path, "/")
	base.RawPath = ""
	return base, nil
}

// String names the server, and not the key.
func (c *Client) String() string { return "onejob at " + c.base.String() }
