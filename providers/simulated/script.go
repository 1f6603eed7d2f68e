package simulated

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	jsonv1 "github.com/go-json-experiment/json/v1"
)

// outcomes are the words a step may use.
var outcomes = []string{succeed, reject, busy, hang, reset, garbage, truncate}

const (
	succeed  = "succeed"
	reject   = "reject"
	busy     = "busy"
	hang     = "hang"
	reset    = "reset"
	garbage  = "garbage"
	truncate = "truncate"
)

// step is what one try does.
type step struct {
	Delay   string          `json:"delay"`
	Outcome string          `json:"outcome"`
	Result  json.RawMessage `json:"result"`
	Error   string          `json:"error"`

	delay time.Duration
}

// input is a job's, with its members if it is an object.
type input struct {
	text    json.RawMessage
	members map[string]json.RawMessage
}

func read(text json.RawMessage) input {
	members, _ := object(text)
	return input{text: text, members: members}
}

// script reads input.simulate.<provider> and returns the step of a try, counted
// from 1; the last step of a list repeats. Without a script every try succeeds
// at once. The whole script is checked, not only the step that is due.
func (i input) script(provider string, try int) (step, error) {
	plain := step{Outcome: succeed}
	if isNull(i.members["simulate"]) {
		return plain, nil
	}
	byProvider, ok := object(i.members["simulate"])
	if !ok {
		return step{}, errors.New("input.simulate must be an object with the names of providers")
	}
	raw := bytes.TrimSpace(byProvider[provider])
	if isNull(raw) {
		return plain, nil
	}
	steps, err := steps(raw)
	if err != nil {
		return step{}, fmt.Errorf("input.simulate.%s: %w", provider, err)
	}
	return steps[min(max(try, 1), len(steps))-1], nil
}

// steps reads an object or a list of them.
func steps(raw json.RawMessage) ([]step, error) {
	list := []json.RawMessage{raw}
	if raw[0] == '[' {
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, errors.New("is no list")
		}
		if len(list) == 0 {
			return nil, errors.New("the list is empty")
		}
	}
	steps := make([]step, len(list))
	for i, raw := range list {
		var err error
		if steps[i], err = oneStep(raw); err != nil {
			return nil, fmt.Errorf("try %d: %w", i+1, err)
		}
	}
	return steps, nil
}

func oneStep(raw json.RawMessage) (step, error) {
	if _, ok := object(raw); !ok {
		return step{}, errors.New("must be an object with delay, outcome, result, error, or a list of them")
	}
	s := step{Outcome: succeed}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return step{}, fmt.Errorf("allowed are delay, outcome, error (strings) and result: %s", fault(err))
	}
	if !known(s.Outcome) {
		return step{}, fmt.Errorf("outcome must be one of %s", strings.Join(outcomes, ", "))
	}
	if s.Delay == "" {
		return s, nil
	}
	delay, err := time.ParseDuration(s.Delay)
	if err != nil || delay < 0 {
		return step{}, errors.New("delay must be a duration such as 400ms or 2s, and not negative")
	}
	s.delay = delay
	return s, nil
}

// fault says what is wrong without quoting a value.
func fault(err error) string {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s is of the wrong type", kind.Field)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func known(outcome string) bool { return slices.Contains(outcomes, outcome) }

// object returns the members of a JSON object.
func object(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	var members map[string]json.RawMessage
	err := jsonv1.Unmarshal(raw, &members)
	return members, err == nil && members != nil
}

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(bytes.TrimSpace(raw)) == "null"
}
