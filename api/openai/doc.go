// Package openai is the OpenAI-compatible door: any client of OpenAI's Chat
// Completions works by changing its base URL and sending an Idempotency-Key
// (design §7).
//
// A request is the job that POST /v1/jobs would have made of it: model is the
// route, messages the input, everything else a param, and stream and
// stream_options say only how this one caller wants his answer. So the same key
// leads to the same job, whichever way and however often it is asked for, and a
// client that times out and sends again attaches to the job that runs already.
//
// The connection is held until the job ends, or for as long as an unknown outcome
// may still settle by itself, at most Config.Wait. There is no 202, which these
// clients would take for a success. A client that hangs up stops nothing.
//
// x-should-retry, which OpenAI's clients obey, is true where the same request
// with the same key may have another answer by itself, and false where it has
// not: they would send a 409, 429 or 5xx again by themselves.
package openai
