package providers

// Reasons of a definite failure that left no effect: the call never left.
const (
	// ReasonNotSent: no connection was made, or it took no byte of the create.
	ReasonNotSent = "not_sent"
	// ReasonRequestInvalid: the job's input cannot be turned into a call at this
	// provider. Permanent.
	ReasonRequestInvalid = "request_invalid"
	// ReasonCircuitOpen: the provider has failed too often, and is left alone for
	// a while (WithBreaker). Retryable.
	ReasonCircuitOpen = "circuit_open"
)

// Reasons of a definite failure: the provider answered no.
const (
	// ReasonRejected: a 4xx without a reason of its own here. Permanent.
	ReasonRejected = "rejected"
	// ReasonUnauthorized: 401 or 403: the credentials in the configuration are
	// not accepted. Permanent.
	ReasonUnauthorized = "unauthorized_at_provider"
	// ReasonRateLimited: 429, or a call held back because of one (WithPause).
	// Retryable.
	ReasonRateLimited = "rate_limited"
	// ReasonBusy: 503 with the provider's own error, or a 409 of which it says
	// that it has no room now. Retryable.
	ReasonBusy = "busy"
	// ReasonOverloaded: 529 with the provider's own error. Retryable.
	ReasonOverloaded = "overloaded"
	// ReasonProviderError: another 5xx with the provider's own error. Retryable;
	// the effect is unknown.
	ReasonProviderError = "provider_error"
	// ReasonRedirected: 307 or 308: the work was not done here, and no redirect
	// is followed. Permanent.
	ReasonRedirected = "redirected"
	// ReasonRefused: the content was refused (a filter, a model's refusal).
	// Permanent, and no reason to ask another provider.
	ReasonRefused = "refused"
	// ReasonFailedAtProvider: a look-up says that the attempt failed.
	ReasonFailedAtProvider = "failed_at_provider"
	// ReasonResultGone: the work was done, and the provider has deleted its result.
	// Permanent.
	ReasonResultGone = "result_gone"
	// ReasonResultTooLarge: the work was done, its result is larger than
	// MaxResult. Permanent.
	ReasonResultTooLarge = "result_too_large"
)

// Reasons of an unknown outcome: a byte was written and no proof came back.
const (
	// ReasonConnectionLost: the connection broke before an answer began.
	ReasonConnectionLost = "connection_lost"
	// ReasonAnswerTruncated: an answer began and did not arrive whole.
	ReasonAnswerTruncated = "answer_truncated"
	// ReasonAnswerUnreadable: a whole answer says success and cannot be understood,
	// or what came is no HTTP answer at all.
	ReasonAnswerUnreadable = "answer_unreadable"
	// ReasonGatewayAnswer: 408, 499, 502, 504, 52x, or another 5xx that does not
	// carry the provider's own error: it may speak for something in between.
	ReasonGatewayAnswer = "gateway_answer"
	// ReasonRedirectAnswer: a 3xx other than 307 and 308 may follow the effect.
	ReasonRedirectAnswer = "redirect_answer"
	// ReasonTimeout: silence longer than the provider's timeout.
	ReasonTimeout = "timeout"
	// ReasonDeadline: no answer before the attempt's deadline.
	ReasonDeadline = "deadline"
	// ReasonStopped: the call was called off before an answer came.
	ReasonStopped = "call_stopped"
	// ReasonAcceptedUntraceable: the provider took the work and gave nothing to
	// ask for it by.
	ReasonAcceptedUntraceable = "accepted_untraceable"
)

// Reasons of a look-up that changes nothing.
const (
	// ReasonLookupAbsent: the provider does not know the attempt. No proof that it
	// never ran, unless the provider is declared to prove it.
	ReasonLookupAbsent = "lookup_absent"
	// ReasonLookupFailed: the provider could not be asked, or its answer not
	// understood. Nothing about the attempt follows from it.
	ReasonLookupFailed = "lookup_failed"
)
