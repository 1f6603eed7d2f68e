package jobs

import (
	"fmt"
	"strconv"
)

// WebhookState is the state of a delivery. Only the Lua scripts set it.
type WebhookState string

// States of a delivery.
const (
	WebhookPending   WebhookState = "pending"   // a try is due, or under way
	WebhookDelivered WebhookState = "delivered" // the receiver has answered 2xx
	WebhookExhausted WebhookState = "exhausted" // the last try of the schedule failed, or the record expires before the next
	WebhookDisabled  WebhookState = "disabled"  // the receiver has answered 410 and wants no more
)

// Webhook is one delivery: one event of a job and what became of telling its
// webhook. It is recorded by the script that changes the job's state.
type Webhook struct {
	Number      int          `json:"number"`
	ID          string       `json:"id"`    // webhook-id: the same for every try
	Event       string       `json:"event"` // job.succeeded, job.failed, job.cancelled or job.unknown
	At          Time         `json:"at"`    // of the event
	State       WebhookState `json:"state"`
	Tries       int          `json:"tries"`                 // begun, since the event or the latest redelivery
	LastStatus  int          `json:"last_status,omitempty"` // of the latest answer
	LastError   string       `json:"last_error,omitempty"`  // of the latest try that failed; never the receiver's words
	NextAt      Time         `json:"next_at,omitzero"`      // not before then, while pending
	DeliveredAt Time         `json:"delivered_at,omitzero"`
}

// Webhook returns the delivery with number n, or nil.
func (j *Job) Webhook(n int) *Webhook {
	for i := range j.Webhooks {
		if j.Webhooks[i].Number == n {
			return &j.Webhooks[i]
		}
	}
	return nil
}

// decodeWebhooks reads the deliveries; nil when there are none.
func decodeWebhooks(jobID string, f *recordFields) []Webhook {
	var deliveries []Webhook
	for _, d := range f.deliveries {
		deliveries = append(deliveries, decodeWebhook(jobID, d.number, d.fields))
	}
	return deliveries
}

func decodeWebhook(jobID string, n int, f fieldList) Webhook {
	w := Webhook{
		Number: n, ID: webhookID(jobID, n, whole(f.at("at"))), Event: f.at("event"), At: moment(f.at("at")), State: WebhookState(f.at("state")),
		Tries: int(whole(f.at("tries"))), LastStatus: int(whole(f.at("code"))), LastError: f.at("error"), DeliveredAt: moment(f.at("delivered")),
	}
	if w.State == WebhookPending {
		w.NextAt = moment(f.at("next"))
	}
	return w
}

// webhookID names an event for ever. The time of the event is part of it: a store
// that went back in time gives the number of a lost event to another one, which the
// receiver must not take for the one it has had.
func webhookID(jobID string, n int, at int64) string {
	return fmt.Sprintf("%s-h%d-%s", jobID, n, strconv.FormatInt(at, 36))
}
