package replicate

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"onejob/providers"
)

// Bounds of the search of a list.
const (
	maxPages = 5
	// around is how far Replicate's clock may be from ours.
	around = 10 * time.Minute
)

// Lookup asks for the prediction by its id or, when that was lost, searches the
// newest predictions for the attempt's webhook URL. Absent proves nothing.
func (h hosted) Lookup(ctx context.Context, ref providers.Ref) providers.Outcome {
	if ref.Handle != "" {
		return h.ask(ctx, ref, h.address("predictions", ref.Handle), func(a providers.Answer) providers.Outcome {
			return h.read(a.Body)
		})
	}
	return h.search(ctx, ref)
}

// ask GETs address and judges the answer as understand reads it.
func (h hosted) ask(
	ctx context.Context, ref providers.Ref, address string, understand func(providers.Answer) providers.Outcome,
) providers.Outcome {
	answer, err := h.get(ctx, ref, address)
	if err != nil {
		return providers.LookupFailed(err.Error())
	}
	return providers.Lookup{Understand: understand, Secrets: h.secrets}.Outcome(answer)
}

func (h hosted) get(ctx context.Context, ref providers.Ref, address string) (providers.Answer, error) {
	req, err := h.request(ctx, http.MethodGet, address, nil)
	if err != nil {
		return providers.Answer{}, err
	}
	req.Header.Set("X-Onejob-Attempt", ref.AttemptID)
	return providers.Do(h.client, req, providers.MaxResult), nil
}

// page is one of a list of predictions, newest first.
type page struct {
	Next    string       `json:"next"`
	Results []prediction `json:"results"`
}

// search reads page after page. What it finds is asked for by its id, because a
// list may leave things out.
func (h hosted) search(ctx context.Context, ref providers.Ref) providers.Outcome {
	address := h.firstPage(ref)
	for range maxPages {
		var list page
		outcome := h.ask(ctx, ref, address, func(a providers.Answer) providers.Outcome {
			if err := json.Unmarshal(a.Body, &list); err != nil || list.Results == nil {
				return providers.LookupFailed("the answer is no list of predictions")
			}
			return providers.Absent()
		})
		if outcome.Kind == providers.Failed { // too large, which is said of a result
			return providers.LookupFailed("the list of predictions is larger than can be read")
		}
		if id := list.of(ref.AttemptID); id != "" {
			ref.Handle = id
			return h.Lookup(ctx, ref)
		}
		// A page that leads elsewhere must not get the credential.
		if outcome.Reason != providers.ReasonLookupAbsent || !strings.HasPrefix(list.Next, h.address("predictions")+"?") {
			return outcome
		}
		address = list.Next
	}
	return providers.Absent()
}

// of is the id of the attempt's prediction, "" when it is not on the page.
func (p page) of(attempt string) string {
	for _, found := range p.Results {
		if markOf(found.Webhook) == attempt {
			return found.ID
		}
	}
	return ""
}

func (h hosted) firstPage(ref providers.Ref) string {
	address := h.address("predictions")
	if ref.ClaimedAt.IsZero() {
		return address
	}
	query := url.Values{
		"created_after":  {ref.ClaimedAt.Add(-around).UTC().Format(time.RFC3339)},
		"created_before": {ref.ClaimedAt.Add(around).UTC().Format(time.RFC3339)},
	}
	return address + "?" + query.Encode()
}
