package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Event is one line of a job's trail.
type Event struct {
	ID      string    `json:"id"` // in the order they happened; where to go on
	At      time.Time `json:"at"`
	Actor   string    `json:"actor"`
	Verb    string    `json:"verb"`
	Attempt int       `json:"attempt,omitempty"`
	From    string    `json:"from,omitempty"`
	To      string    `json:"to,omitempty"`
	Reason  string    `json:"reason,omitempty"`
}

// Trail goes through what has happened to the job so far, oldest first. After an
// error, which is yielded once, it ends.
func (c *Client) Trail(ctx context.Context, id string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		k, err := onJob("trail", http.MethodGet, id, "/events")
		if err != nil {
			yield(Event{}, err)
			return
		}
		k.query = url.Values{"limit": {"1000"}}
		pages(ctx, c, k, yield)
	}
}
