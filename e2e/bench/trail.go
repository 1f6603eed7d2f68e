package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// times are when what happened to a job, by the store's clock, in whole ms.
type times struct{ submitted, claimed, ended time.Time }

// trail reads them from a job's audit trail.
func (c *client) trail(id string) (times, error) {
	body, err := c.expect(get(nil, "/v1/jobs/"+id+"/events"), 200)
	if err != nil {
		return times{}, err
	}
	return timesIn(body)
}

func timesIn(trail []byte) (t times, err error) {
	var events struct {
		Data []struct {
			Verb string    `json:"verb"`
			At   time.Time `json:"at"`
		} `json:"data"`
	}
	if err := json.Unmarshal(trail, &events); err != nil {
		return t, fmt.Errorf("reading a trail: %w", err)
	}
	for _, event := range events.Data {
		switch event.Verb {
		case "submit":
			t.submitted = event.At
		case "claim":
			t.claimed = event.At
		case "finalize":
			t.ended = event.At
		}
	}
	if t.submitted.IsZero() || t.claimed.IsZero() || t.ended.IsZero() {
		return t, fmt.Errorf("a trail without submit, claim and finalize: %s", trail)
	}
	return t, nil
}

func idIn(body []byte) string {
	_, rest, _ := strings.Cut(string(body), `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// oneJob submits a job and waits for its end as a caller does, with Prefer: wait.
// It returns how long that took, and the job's times.
func (c *client) oneJob(ctx context.Context) (ended time.Duration, t times, err error) {
	if ctx.Err() != nil {
		return 0, t, ctx.Err()
	}
	began := time.Now()
	body, err := c.expect(postWaiting(nil, newKey(), submitBody), 200)
	if err != nil {
		return 0, t, err
	}
	ended = time.Since(began)
	t, err = c.trail(idIn(body))
	return ended, t, err
}
