package chaos_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"os"
	"strings"
	"time"
)

// modes are what the provider can do with a create; the first is the usual one.
var modes = []string{
	"ok",
	"slow",    // an effect, and the answer before it is silence
	"lost",    // an effect, and the connection is closed in place of an answer
	"cut",     // an effect, and half an answer
	"hang",    // an effect, and no answer at all
	"late",    // an effect, and the answer, after it has become unknown
	"gateway", // an effect, and a gateway's 502
	"garbage", // an effect, and an answer that cannot be read
	"dropped", // the connection is closed, without an effect
	"busy",    // a no that may be tried again
	"reject",  // a no for good
}

// modeExpired is a create that came after the time in which it may be sent: refused.
const modeExpired = "expired"

// effectAtOnce are the modes in which the create itself has an effect.
var effectAtOnce = map[string]bool{
	"ok": true, "slow": true, "lost": true, "cut": true, "hang": true, "gateway": true, "garbage": true,
}

const (
	printing  = 10 * time.Millisecond
	slowly    = 300 * time.Millisecond  // less than the time-out
	lately    = 1200 * time.Millisecond // more than it, less than the deadline
	tooLately = 3 * time.Second         // a late effect that has not come by then never comes
	hanging   = 5 * time.Second         // more than the deadline
)

// modeOf picks a mode from the seed, the story and the attempt's number, so that a
// replay meets the same provider.
func modeOf(seed int64, key, attempt string) string {
	_, number, _ := strings.Cut(attempt, "-a")
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%d/%s/%s", seed, key, number)
	all := modes
	if os.Getenv(calmEnv) != "" {
		all = calmModes
	}
	const others = 350 // of a thousand
	if n := int(h.Sum32()>>8) % 1000; n < others {
		return all[1+n*(len(all)-1)/others]
	}
	return all[0]
}

// answer does to the caller what the line's mode says.
func (p *provider) answer(w http.ResponseWriter, r *http.Request, l *line) {
	switch l.Mode {
	case "slow":
		rest(r.Context(), slowly)
	case "late":
		// It comes whether anybody listens or not.
		rest(context.WithoutCancel(r.Context()), lately)
		effect := l.entry
		effect.Kind = "effect"
		if l = p.book.enter(&line{entry: effect, effect: true, until: l.At.Add(tooLately)}); l.Result == "" {
			breakOff(w)
			return
		}
	case "hang":
		rest(r.Context(), hanging)
		breakOff(w)
		return
	case "lost", "dropped":
		breakOff(w)
		return
	case "cut":
		w.Header().Set("Content-Length", "1000")
		say(w, http.StatusOK, `{"sheet":"`)
		return
	case "gateway":
		w.WriteHeader(http.StatusBadGateway)
		return
	case "garbage":
		say(w, http.StatusOK, `{"sheet": <html>`)
		return
	case "busy":
		say(w, http.StatusServiceUnavailable, `{"error":{"message":"busy"}}`)
		return
	case "reject", modeExpired:
		say(w, http.StatusUnprocessableEntity, `{"error":{"message":"no"}}`)
		return
	default:
		rest(r.Context(), printing)
	}
	say(w, http.StatusOK, resultJSON(l.Result))
}

func breakOff(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}
