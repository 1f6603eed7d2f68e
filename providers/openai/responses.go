package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/openai/openai-go/v3/option"
	sdk "github.com/openai/openai-go/v3/responses"

	"onejob/providers"
)

// responsesPath of the Responses API, relative to the base URL.
const responsesPath = "responses"

// background makes responses in background mode: the create answers at once with
// an id, which is the attempt's handle, and the end is asked for by it. The
// server goes on whatever becomes of the connection, and stops when it is asked to.
//
// What it keeps it does not keep for ever: a 404 says only that it has nothing
// now, never that the attempt did not run. Without the handle (the answer to the
// create was lost) there is no way to ask: the API has no list.
type background struct{ *provider }

// Execute makes the one create of the attempt.
func (b background) Execute(ctx context.Context, call *providers.Call) providers.Outcome {
	outcome := b.create(ctx, call, responsesPath, b.responsesBody, func(*providers.Exchange) func(providers.Answer) providers.Outcome {
		return func(a providers.Answer) providers.Outcome { return understandResponse(a, true) }
	})
	if outcome.Kind == providers.Accepted && call.Accept != nil {
		// A handle that could not be stored is still in the outcome.
		_ = call.Accept(ctx, outcome.Handle)
	}
	return outcome
}

// Lookup asks for the response by its id.
func (b background) Lookup(ctx context.Context, ref providers.Ref) providers.Outcome {
	if ref.Handle == "" {
		return providers.LookupFailed("the answer with the response's id was lost, and the API cannot be asked without")
	}
	seen := exchange()
	_, err := b.responses().Get(ctx, ref.Handle, sdk.ResponseGetParams{}, b.asking(seen, ref)...)
	looked := providers.Lookup{Secrets: b.secrets, Understand: func(a providers.Answer) providers.Outcome {
		return understandResponse(a, false)
	}}
	return looked.Outcome(seen.Answer(err))
}

// Cancel asks to stop the response. Servers differ in what they say of one that
// has ended or is not kept any more (200, 400, 404, 409): then there is nothing
// to stop, and that is no error.
func (b background) Cancel(ctx context.Context, ref providers.Ref) error {
	if ref.Handle == "" {
		return fmt.Errorf("asking to cancel: %w", providers.ErrNoHandle)
	}
	seen := exchange()
	_, err := b.responses().Cancel(ctx, ref.Handle, b.asking(seen, ref)...)
	answer := seen.Answer(err)
	switch answer.Status {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent,
		http.StatusBadRequest, http.StatusNotFound, http.StatusConflict:
		if answer.Err == nil {
			return nil
		}
	}
	return fmt.Errorf("asking to cancel: %s", answer.Said(b.secrets))
}

func (b background) responses() *sdk.ResponseService {
	service := sdk.NewResponseService(b.client.Options...)
	return &service
}

// asking are the options of a request that is no create.
func (b background) asking(seen *providers.Exchange, ref providers.Ref) []option.RequestOption {
	return []option.RequestOption{
		option.WithMiddleware(seen.Middleware(providers.NewWire(nil))),
		option.WithHeader("X-Onejob-Attempt", ref.AttemptID),
	}
}

// checkResponses refuses options that would undo background mode.
func checkResponses(options map[string]any) error {
	if _, set := options["input"]; set {
		return errors.New("options: input cannot be an option")
	}
	for name, must := range map[string]bool{"background": true, "store": true, "stream": false} {
		if value, set := options[name]; set && value != must {
			return fmt.Errorf("options: %s must be %t with api: responses", name, must)
		}
	}
	return nil
}
