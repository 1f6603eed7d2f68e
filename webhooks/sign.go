package webhooks

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// sign sets the headers of Standard Webhooks: id, time of this try in Unix seconds,
// and one signature `v1,<base64>` a secret, with a space between. HMAC-SHA256 is
// taken over id.timestamp.body.
func sign(h http.Header, id string, at time.Time, body []byte, secrets []string) error {
	signatures := make([]string, 0, len(secrets))
	for _, secret := range secrets {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return fmt.Errorf("reading a webhook secret: %w", errBadSecret) // the cause could show it
		}
		signature, err := signer.Sign(id, at, body)
		if err != nil {
			return fmt.Errorf("signing webhook %s: %w", id, err)
		}
		signatures = append(signatures, signature)
	}
	h.Set(standardwebhooks.HeaderWebhookID, id)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return nil
}
