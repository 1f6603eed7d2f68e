package providertest

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/providers"
)

// fault is a way a server can answer one create, and what must follow from it.
type fault struct {
	name   string
	script Script
	want   want
}

// want is the outcome a fault must have. An empty effect is not checked.
type want struct {
	kind      providers.Kind
	reason    string
	retryable bool
	after     time.Duration
	effect    providers.Effect
}

func (w want) check(t testing.TB, o providers.Outcome) {
	t.Helper()
	require.Equal(t, w.kind, o.Kind, "%s: %s", o.Reason, o.Message)
	require.Equal(t, w.reason, o.Reason, o.Message)
	require.Equal(t, w.retryable, o.Retryable)
	if w.after > 0 {
		require.InDelta(t, w.after.Seconds(), o.RetryAfter.Seconds(), 3)
	} else {
		require.Zero(t, o.RetryAfter)
	}
	if w.effect != "" {
		require.Equal(t, w.effect, o.Effect)
	}
}

func unknown(reason string) want {
	return want{kind: providers.Unknown, reason: reason, effect: providers.EffectUnknown}
}

// no is a definite, permanent failure without effect.
func no(reason string) want {
	return want{kind: providers.Failed, reason: reason, effect: providers.EffectNone}
}

// later is a definite failure that may be tried again.
func later(reason string, effect providers.Effect) want {
	return want{kind: providers.Failed, reason: reason, retryable: true, effect: effect}
}

func success() want { return want{kind: providers.Succeeded, effect: providers.EffectDone} }

// faults lists every case of one answer to one create.
func faults(s Suite) []fault {
	all := []fault{
		{"success", reply(200, s.Success), success()},
		{"success as 201", reply(201, s.Success), success()},
	}
	all = append(all, brokenAnswers(s)...)
	all = append(all, oddAnswers(s)...)
	all = append(all, refusals(s)...)
	return append(all, serverErrors(s)...)
}

const jsonType = "Content-Type: application/json"

// reply answers with a JSON body and keeps the connection.
func reply(status int, body string, headers ...string) Script {
	return func(x *Exchange) bool { return x.Reply(status, body, append(headers, jsonType)...) }
}

// raw writes bytes and closes the connection.
func raw(bytes string) Script {
	return func(x *Exchange) bool {
		x.Write(bytes)
		return false
	}
}

// brokenAnswers are connections that end before the answer does.
func brokenAnswers(s Suite) []fault {
	head := "HTTP/1.1 200 OK\r\n" + jsonType + "\r\n"
	half := s.Success[:len(s.Success)/2]
	return []fault{
		{"closed before the answer", raw(""), unknown(providers.ReasonConnectionLost)},
		{"reset after the request", func(x *Exchange) bool { x.Reset(); return false }, unknown(providers.ReasonConnectionLost)},
		{"head cut in the status line", raw("HTTP/1.1 2"), unknown(providers.ReasonAnswerTruncated)},
		{"head cut in a header", raw("HTTP/1.1 200 OK\r\nContent-Le"), unknown(providers.ReasonAnswerTruncated)},
		{"body shorter than its Content-Length", raw(head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s.Success), half)), unknown(providers.ReasonAnswerTruncated)},
		{"body whole, Content-Length longer", raw(head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s.Success)+1, s.Success)), unknown(providers.ReasonAnswerTruncated)},
		{"chunks without an end", raw(head + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(s.Success), s.Success)), unknown(providers.ReasonAnswerTruncated)},
		{"chunk cut", raw(head + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s", len(s.Success), half)), unknown(providers.ReasonAnswerTruncated)},
		{"body without a length, cut", raw(head + "Connection: close\r\n\r\n" + half), unknown(providers.ReasonAnswerUnreadable)},
		{"body without a length, whole", raw(head + "Connection: close\r\n\r\n" + s.Success), success()},
		{"reset in the body", func(x *Exchange) bool {
			x.Write(head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s.Success), half))
			x.Reset()
			return false
		}, unknown(providers.ReasonAnswerTruncated)},
		{"a refusal that was cut off", raw("HTTP/1.1 422 No\r\n" + jsonType + "\r\nContent-Length: 1000\r\n\r\n" + s.Error), unknown(providers.ReasonAnswerTruncated)},
	}
}

// oddAnswers are whole answers that are no proof of anything.
func oddAnswers(s Suite) []fault {
	const page = "<html><body>It works!</body></html>"
	all := []fault{
		{"no HTTP", raw("SSH-2.0-OpenSSH_9.9\r\n"), unknown(providers.ReasonAnswerUnreadable)},
		{"contradicting lengths", raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), unknown(providers.ReasonAnswerUnreadable)},
		{"200, empty", reply(200, ""), unknown(providers.ReasonAnswerUnreadable)},
		{"200, HTML", func(x *Exchange) bool { return x.Reply(200, page, "Content-Type: text/html") }, unknown(providers.ReasonAnswerUnreadable)},
		{"200, HTML labelled JSON", reply(200, page), unknown(providers.ReasonAnswerUnreadable)},
		{"200, JSON cut by the server", reply(200, s.Success[:len(s.Success)-1]), unknown(providers.ReasonAnswerUnreadable)},
		{"200, two JSON values", reply(200, s.Success+s.Success), unknown(providers.ReasonAnswerUnreadable)},
		{"204", raw("HTTP/1.1 204 No Content\r\n\r\n"), unknown(providers.ReasonAnswerUnreadable)},
		{"206", reply(206, s.Success), unknown(providers.ReasonAnswerUnreadable)},
		{"101", raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), unknown(providers.ReasonAnswerUnreadable)},
		{"100, then the answer", func(x *Exchange) bool {
			x.Write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
			return x.Reply(200, s.Success, jsonType)
		}, success()},
		{"100, then nothing", raw("HTTP/1.1 100 Continue\r\n\r\n"), unknown(providers.ReasonAnswerTruncated)},
	}
	for _, status := range []int{300, 301, 302, 303, 304} {
		all = append(all, fault{fmt.Sprint(status), redirect(status), unknown(providers.ReasonRedirectAnswer)})
	}
	for _, status := range []int{307, 308} {
		all = append(all, fault{fmt.Sprint(status), redirect(status), no(providers.ReasonRedirected)})
	}
	return all
}

// redirect leads to the server itself, where a second request would be counted.
func redirect(status int) Script {
	return func(x *Exchange) bool {
		headers := []string{"Location: http://" + x.Request.Host + "/elsewhere"}
		if status == http.StatusNotModified {
			return x.Write("HTTP/1.1 304 Not Modified\r\n" + lines(headers) + "\r\n")
		}
		return x.Reply(status, "", headers...)
	}
}

// refusals are 4xx: the provider said no before it did anything.
func refusals(s Suite) []fault {
	var all []fault
	for _, status := range []int{400, 402, 404, 405, 409, 410, 413, 415, 422, 451} {
		all = append(all,
			fault{fmt.Sprint(status), reply(status, s.Error), no(providers.ReasonRejected)},
			fault{fmt.Sprintf("%d without an envelope", status), reply(status, "nope"), no(providers.ReasonRejected)})
	}
	for _, status := range []int{401, 403} {
		all = append(all, fault{fmt.Sprint(status), reply(status, s.Error), no(providers.ReasonUnauthorized)})
	}
	limited := later(providers.ReasonRateLimited, providers.EffectNone)
	all = append(all,
		fault{"429", reply(429, s.Error), limited},
		fault{"429 without an envelope", reply(429, ""), limited},
		fault{"408", reply(408, s.Error), unknown(providers.ReasonGatewayAnswer)},
		fault{"499", reply(499, s.Error), unknown(providers.ReasonGatewayAnswer)})
	limited.after = 120 * time.Second
	soon := limited
	soon.after = 1500 * time.Millisecond
	dated := func(x *Exchange) bool {
		// The date is of the moment of the answer, however long the tests took to come here.
		date := time.Now().Add(limited.after).UTC().Format(http.TimeFormat)
		return reply(429, s.Error, "Retry-After: "+date)(x)
	}
	return append(all,
		fault{"429, Retry-After in seconds", reply(429, s.Error, "Retry-After: 120"), limited},
		fault{"429, Retry-After as a date", dated, limited},
		fault{"429, Retry-After-Ms", reply(429, s.Error, "Retry-After: 120", "Retry-After-Ms: 1500"), soon})
}

// serverErrors are 5xx: proof only when the provider's own error is in them.
func serverErrors(s Suite) []fault {
	failed := later(providers.ReasonProviderError, providers.EffectUnknown)
	all := []fault{
		{"500", reply(500, s.Error), failed},
		{"501", reply(501, s.Error), failed},
		{"503", reply(503, s.Error), later(providers.ReasonBusy, providers.EffectNone)},
		{"529", reply(529, s.Error), later(providers.ReasonOverloaded, providers.EffectNone)},
	}
	gateway := unknown(providers.ReasonGatewayAnswer)
	for _, status := range []int{500, 501, 503, 529} {
		all = append(all,
			fault{fmt.Sprintf("%d, empty", status), reply(status, ""), gateway},
			fault{fmt.Sprintf("%d, HTML", status), reply(status, "<html>Sorry</html>"), gateway},
			fault{fmt.Sprintf("%d, JSON that is no error", status), reply(status, `{"status":"sad"}`), gateway})
	}
	for _, status := range []int{502, 504, 520, 521, 522, 523, 524, 525, 526, 527, 528, 530} {
		all = append(all,
			fault{fmt.Sprint(status), reply(status, s.Error), gateway},
			fault{fmt.Sprintf("%d without an envelope", status), reply(status, ""), gateway})
	}
	return all
}
