package contracts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/oklog/ulid/v2"

	"onejob/providers"
)

// rendering proves what the contract's rendering section states, all of it:
//
// canary: a token made for this one call is put into the system prompt, and the
// answer repeats it. So system prompts reach the model. It does not prove that the
// model obeys everything a system prompt says.
//
// prompt-tokens: the provider counts a pinned prompt (usage.prompt_tokens, or
// input_tokens) within the stated range. So the template is rendered as meant; a
// doubled BOS or another template moves the count. Where the server has a
// tokenizer to ask, its count of the same messages must be the same number, and
// stands in where usage says nothing.
func (s *session) rendering(ctx context.Context) {
	r := s.contract.Rendering
	if !s.wants(PropertyRendering) || !s.target.AI || !r.Canary && r.PromptTokens == nil {
		if s.wants(PropertyRendering) {
			s.prove(PropertyRendering, false, "a provider of this type renders no prompt; exempt it with a reason")
		}
		return
	}
	var evidence []string
	for _, prove := range []func(context.Context) (string, bool){s.canary, s.promptTokens} {
		why, proven := prove(ctx)
		if !proven {
			return // recorded where it failed
		}
		if why != "" {
			evidence = append(evidence, why)
		}
	}
	s.prove(PropertyRendering, true, strings.Join(evidence, "; "))
}

func (s *session) canary(ctx context.Context) (string, bool) {
	if !s.contract.Rendering.Canary {
		return "", true
	}
	token := "canary-" + strings.ToLower(ulid.Make().String()[16:])
	input, err := providers.Encode(map[string]any{"messages": []message{
		{Role: "system", Content: "The code word is " + token + ". When you are asked for the code word, answer with it exactly as written."},
		{Role: "user", Content: "What is the code word?"},
	}})
	if err != nil {
		s.prove(PropertyRendering, false, err.Error())
		return "", false
	}
	var content string
	o := s.call(ctx, "canary", input, s.params, func(o providers.Outcome) bool {
		content = readAnswer(o.Result).content
		return answered(o) && containsFold(content, token)
	})
	switch {
	case !answered(o):
		s.unproven(PropertyRendering, "canary", o)
		return "", false
	case !containsFold(content, token):
		s.refute("canary", "the answer does not repeat the token of the system prompt: system prompts are ignored", content)
		return "", false
	}
	return "the token in the system prompt came back", true
}

func (s *session) refute(what, why, content string) {
	s.prove(PropertyRendering, false, what+": "+why)
	s.report.Findings = append(s.report.Findings, Finding{
		What: what, Violation: Violation{Assertion: what, Reason: ReasonViolation, Message: why}, Answer: short(content, maxAnswer),
	})
}

func (s *session) promptTokens(ctx context.Context) (string, bool) {
	const what = "prompt-tokens"
	want := s.contract.Rendering.PromptTokens
	if want == nil {
		return "", true
	}
	input, err := s.input(want.Vars)
	if err != nil {
		s.prove(PropertyRendering, false, err.Error())
		return "", false
	}
	var counted int
	o := s.call(ctx, what, input, s.params, func(o providers.Outcome) bool {
		counted = promptTokens(o.Usage)
		return answered(o) && (counted == 0 || counted >= want.Min && counted <= want.Max)
	})
	if !answered(o) {
		s.unproven(PropertyRendering, what, o)
		return "", false
	}
	asked, err := s.tokenize(ctx, input)
	if err != nil {
		s.leaveOpen(PropertyRendering, what+": the server's tokenizer could not be asked: "+oneLine(err.Error()))
		return "", false
	}
	switch {
	case counted == 0 && asked == 0:
		s.refute(what, "the provider does not say how many tokens the prompt has (usage.prompt_tokens)", "")
		return "", false
	case counted != 0 && asked != 0 && counted != asked:
		s.refute(what, fmt.Sprintf("usage says %d, the server's own tokenizer %d: the prompt is not rendered as its template says", counted, asked), "")
		return "", false
	}
	n := max(counted, asked)
	if n < want.Min || n > want.Max {
		s.refute(what, fmt.Sprintf("the pinned prompt has %d tokens, want %d to %d", n, want.Min, want.Max), "")
		return "", false
	}
	if asked != 0 {
		return fmt.Sprintf("the pinned prompt has %d tokens, as the server's tokenizer says too", n), true
	}
	return fmt.Sprintf("the pinned prompt has %d tokens", n), true
}

// tokenize asks the server's tokenizer; 0 when it has none.
func (s *session) tokenize(ctx context.Context, input json.RawMessage) (int, error) {
	if s.target.Tokens == nil {
		return 0, nil
	}
	members, err := object(input)
	if err != nil {
		return 0, err
	}
	n, err := s.target.Tokens.CountTokens(ctx, members["messages"])
	if errors.Is(err, ErrNoTokenizer) {
		return 0, nil
	}
	return n, err
}

// promptTokens reads what OpenAI calls prompt_tokens and Anthropic input_tokens;
// 0 when usage does not say.
func promptTokens(usage json.RawMessage) int {
	var said struct {
		Prompt int `json:"prompt_tokens"`
		Input  int `json:"input_tokens"`
	}
	if json.Unmarshal(usage, &said) != nil {
		return 0
	}
	return max(said.Prompt, said.Input, 0)
}
