package client

import (
	"context"
	"strconv"
	"time"
)

// Webhook is one thing a job's webhook was told, or is to be told.
type Webhook struct {
	Number int       `json:"number"`
	ID     string    `json:"id"`    // the header webhook-id: the same for every try
	Event  string    `json:"event"` // such as job.succeeded
	At     time.Time `json:"at"`
	State  string    `json:"state"` // pending, delivered, exhausted or disabled
	// Tries are those begun since the event, or since the latest redelivery.
	Tries       int       `json:"tries"`
	LastStatus  int       `json:"last_status,omitempty"`
	LastError   string    `json:"last_error,omitempty"`
	NextAt      time.Time `json:"next_at,omitzero"`
	DeliveredAt time.Time `json:"delivered_at,omitzero"`
}

// Redeliver makes the delivery with that number again, from the start of its
// schedule and under its old id, also one that was delivered.
func (c *Client) Redeliver(ctx context.Context, id string, number int, d Decision) (*Job, error) {
	return c.decide(ctx, "redeliver", id, "/webhooks/"+strconv.Itoa(number)+"/redeliver", d, map[string]any{})
}
