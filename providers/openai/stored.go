package openai

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/openai/openai-go/v3/option"

	"onejob/providers"
)

// stored is a provider whose answers are kept, so that an attempt can be asked for.
type stored struct{ *provider }

func (s stored) Lookup(ctx context.Context, ref providers.Ref) providers.Outcome {
	return s.lookup(ctx, ref)
}

// lookup asks for the kept answer whose metadata name the attempt.
func (p *provider) lookup(ctx context.Context, ref providers.Ref) providers.Outcome {
	seen := exchange()
	err := p.client.Get(ctx, path, nil, nil,
		option.WithMiddleware(seen.Middleware(providers.NewWire(nil))),
		option.WithQuery("metadata[attempt]", ref.AttemptID),
		option.WithHeader("X-Onejob-Attempt", ref.AttemptID),
	)
	looked := providers.Lookup{Secrets: p.secrets, Understand: func(a providers.Answer) providers.Outcome {
		var list struct {
			Data []json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(a.Body, &list); err != nil {
			return providers.LookupFailed("the answer is no list")
		}
		if a.Body = ofAttempt(list.Data, ref.AttemptID); a.Body == nil {
			return providers.Absent()
		}
		return understand(a, false)
	}}
	found := seen.Answer(err)
	switch {
	case found.Status == http.StatusNotFound:
		// An empty list says absent; a 404 says that there are no such lists here.
		return providers.LookupFailed("HTTP 404")
	case found.Oversize:
		return providers.LookupFailed("the list is larger than can be read")
	}
	return looked.Outcome(found)
}

// ofAttempt finds the answer whose metadata name the attempt: a server that does
// not know the filter lists everybody's.
func ofAttempt(list []json.RawMessage, attempt string) json.RawMessage {
	for _, item := range list {
		var kept struct {
			Metadata struct {
				Attempt string `json:"attempt"`
			} `json:"metadata"`
		}
		if json.Unmarshal(item, &kept) == nil && kept.Metadata.Attempt == attempt {
			return item
		}
	}
	return nil
}
