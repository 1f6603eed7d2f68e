package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Query says which jobs are listed; the zero value means all that the API key may
// see. What is set must all be true of a job.
type Query struct {
	State    State
	Route    string
	Provider string // of the latest attempt
	Key      string // the idempotency key
	Owner    string // for a key of the role submit, its own owner only
	// Since and Until bound the time of creation: from Since on, before Until.
	Since, Until time.Time
	// PageSize is how many are asked for at once, 1 to 100. Defaults to 20.
	PageSize int
}

func (q Query) values() (url.Values, error) {
	v := url.Values{}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	set("state", string(q.State))
	set("route", q.Route)
	set("provider", q.Provider)
	set("owner", q.Owner)
	if q.Key != "" {
		key, err := keyHeader(q.Key)
		if err != nil {
			return nil, err
		}
		v.Set("idempotency_key", key)
	}
	if !q.Since.IsZero() {
		v.Set("since", q.Since.UTC().Format(time.RFC3339Nano))
	}
	if !q.Until.IsZero() {
		v.Set("until", q.Until.UTC().Format(time.RFC3339Nano))
	}
	if q.PageSize != 0 {
		v.Set("limit", strconv.Itoa(q.PageSize))
	}
	return v, nil
}

// List goes through the jobs, newest first, and asks for the next page when the one
// before is used up. After an error, which is yielded once, it ends.
//
//	for job, err := range c.List(ctx, client.Query{State: client.Unknown}) {
func (c *Client) List(ctx context.Context, q Query) iter.Seq2[*Job, error] {
	return func(yield func(*Job, error) bool) {
		query, err := q.values()
		if err != nil {
			yield(nil, err)
			return
		}
		pages(ctx, c, call{name: "list", method: http.MethodGet, path: "/v1/jobs", query: query, header: http.Header{}}, yield)
	}
}

// page is one answer of a list.
type page[T any] struct {
	Data       []T    `json:"data"`
	HasMore    bool   `json:"has_more"`
	NextCursor string `json:"next_cursor"`
}

// pages yields the items of all pages.
func pages[T any](ctx context.Context, c *Client, k call, yield func(T, error) bool) {
	var none T
	if k.query == nil {
		k.query = url.Values{}
	}
	for {
		a, err := c.do(ctx, k)
		if err != nil {
			yield(none, err)
			return
		}
		var p page[T]
		if err := json.Unmarshal(a.body, &p); err != nil {
			yield(none, fmt.Errorf("client: %s: reading a page: %w", k.name, err))
			return
		}
		for _, item := range p.Data {
			if !yield(item, nil) {
				return
			}
		}
		if !p.HasMore || p.NextCursor == "" {
			return
		}
		k.query.Set("after", p.NextCursor)
	}
}
