package replicate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"strings"
	"time"

	"onejob/providers"
)

// leastCancelAfter is the shortest Cancel-After that Replicate takes.
const leastCancelAfter = 5 * time.Second

// bareVersion is a model version by its id alone.
var bareVersion = regexp.MustCompile(`^[0-9a-f]{64}$`)

// create returns where a prediction is created and the body. A model without a
// version has a URL of its own: official models can only be called there.
func (h hosted) create(call *providers.Call) (address string, body []byte, err error) {
	members, err := h.members(call)
	if err != nil {
		return "", nil, err
	}
	address = h.address("predictions")
	_, version, versioned := strings.Cut(h.config.Model, ":")
	switch owner, name, found := strings.Cut(h.config.Model, "/"); {
	case versioned:
		members["version"] = version
	case bareVersion.MatchString(h.config.Model) || !found:
		members["version"] = h.config.Model
	default:
		address = h.address("models", owner, name, "predictions")
	}
	body, err = providers.Encode(members)
	return address, body, err
}

// cogBody is the same every time, so that a repetition is identical.
func (c cog) cogBody(call *providers.Call) ([]byte, error) {
	members, err := c.members(call)
	if err != nil {
		return nil, err
	}
	return providers.Encode(members)
}

// members are those both APIs have.
func (p *provider) members(call *providers.Call) (map[string]any, error) {
	input, err := p.input(call)
	if err != nil {
		return nil, err
	}
	members := map[string]any{"input": input}
	if call.CallbackURL != "" {
		hook, err := marked(call.CallbackURL, call.AttemptID)
		if err != nil {
			return nil, err
		}
		members["webhook"], members["webhook_events_filter"] = hook, []string{"completed"}
	}
	return members, nil
}

// input lays the job's input over its params over the configured options.
func (p *provider) input(call *providers.Call) (map[string]json.RawMessage, error) {
	merged, err := providers.Merge(p.config.Options, call.Params)
	if err != nil {
		return nil, err
	}
	var own map[string]json.RawMessage
	if err := json.Unmarshal(call.Input, &own); err != nil || own == nil {
		return nil, errors.New("input must be an object, the model's input")
	}
	delete(own, "simulate") // the script of another provider of the route
	if raw, chat := own["messages"]; chat && len(own) == 1 {
		if own, err = prompt(raw); err != nil {
			return nil, err
		}
	}
	maps.Copy(merged, own)
	return merged, nil
}

// prompt turns chat messages into what language models take here. A conversation
// of several turns has no form that all of them share.
func prompt(raw json.RawMessage) (map[string]json.RawMessage, error) {
	var messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	if err := json.Unmarshal(raw, &messages); err != nil {
		return nil, errors.New("input.messages must be a list of messages whose content is a text")
	}
	var user, system []string
	for _, m := range messages {
		switch m.Role {
		case "system", "developer":
			system = append(system, m.Content)
		case "user":
			user = append(user, m.Content)
		default:
			return nil, fmt.Errorf("input.messages: the role %q cannot be put into a prompt", m.Role)
		}
	}
	if len(user) != 1 {
		return nil, errors.New("input.messages must have one message of role user")
	}
	input := map[string]json.RawMessage{}
	var err error
	if input["prompt"], err = providers.Encode(user[0]); err != nil {
		return nil, fmt.Errorf("encoding the prompt: %w", err)
	}
	if len(system) > 0 {
		input["system_prompt"], err = providers.Encode(strings.Join(system, "\n\n"))
	}
	return input, err
}

// markName is the query of a webhook URL that names the attempt.
const markName = "attempt"

// marked adds the attempt's id to a callback URL, so that a prediction in a list
// can be told for certain to be the attempt's.
func marked(callback, attempt string) (string, error) {
	u, err := url.Parse(callback)
	if err != nil {
		return "", errors.New("the callback URL is no URL")
	}
	query := u.Query()
	query.Set(markName, attempt)
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// markOf is the attempt a webhook URL names.
func markOf(webhook string) string {
	u, err := url.Parse(webhook)
	if err != nil {
		return ""
	}
	return u.Query().Get(markName)
}

// cancelAfter is the time until nobody listens any more, counted from the create:
// ctx's deadline or, without one, the configured; "" without either.
func cancelAfter(ctx context.Context, deadline time.Duration) string {
	if at, ok := ctx.Deadline(); ok {
		deadline = time.Until(at)
	}
	if deadline <= 0 {
		return ""
	}
	return fmt.Sprintf("%ds", int(max(deadline, leastCancelAfter).Round(time.Second).Seconds()))
}
