package dashboard

import (
	"encoding/json"
	"fmt"
	"time"

	"onejob/dashboard/payload"
	"onejob/dashboard/timeline"
	"onejob/jobs"
)

// attemptView is an attempt as the pages show it: everything a caller or a provider
// wrote is visible, redacted and capped.
type attemptView struct {
	*jobs.Attempt
	Winner      bool
	Words       string // the reason in words
	ErrorText   string
	HandleText  string
	LookupSaid  string
	Seen        []string      // the evidence in sentences
	Evidence    payload.Shown // as it is, if it cannot be told in sentences
	UsageShown  payload.Shown
	QueueTask   string // its wake-up in asynqmon
	EffectWords string
}

// effectWords say what an effect means.
var effectWords = map[string]string{
	"none":    "none: nothing happened at the provider",
	"done":    "done: the provider did the work",
	"unknown": "unknown: the provider may have done the work",
}

func (p *Pages) attemptView(job *jobs.Job, a *jobs.Attempt) attemptView {
	redact := p.cfg.Jobs.Redact
	view := attemptView{
		Attempt: a, Winner: job.CompletedBy == a.Number, Words: payload.Line(timeline.Words(a.Reason), 200),
		ErrorText: redact.Text("error", a.Error), HandleText: payload.Line(a.Handle, 300),
		UsageShown: redact.Show("usage", a.Usage), QueueTask: queueURL(a.Provider) + "/tasks/" + a.ID,
		EffectWords: effectWords[a.Effect],
	}
	if a.Lookup != nil {
		view.LookupSaid = p.said(a.Lookup.Said)
	}
	view.Evidence = redact.Show("evidence", a.Evidence)
	if view.Evidence.Redacted == 0 && !view.Evidence.NotJSON {
		view.Seen = seenOf(a)
	}
	return view
}

// seenOf tells the evidence in sentences: what was sent, when, and what came.
func seenOf(a *jobs.Attempt) []string {
	if len(a.Evidence) == 0 {
		if a.SentAt.IsZero() {
			return []string{"No call is known to have left."}
		}
		return []string{"Sent at " + clockOf(a.SentAt.Go()) + "; nothing else was noted."}
	}
	var w jobs.WireFacts
	if json.Unmarshal(a.Evidence, &w) != nil {
		return nil
	}
	var seen []string
	add := func(format string, args ...any) { seen = append(seen, fmt.Sprintf(format, args...)) }
	switch {
	case w.BytesWritten == 0 && w.SentAt.IsZero():
		add("Nothing was sent.")
	case w.SentAt.IsZero():
		add("%s sent.", byteSize(w.BytesWritten))
	default:
		add("%s sent, the first at %s.", byteSize(w.BytesWritten), clockOf(w.SentAt))
	}
	switch {
	case w.BytesRead == 0 && w.Status == 0:
		add("Nothing came back.")
	case w.Complete:
		add("A whole answer came: %s%s.", byteSize(w.BytesRead), arrival(w))
	default:
		add("An answer began and did not end: %s%s.", byteSize(w.BytesRead), arrival(w))
	}
	if w.Status != 0 {
		add("HTTP status %d.", w.Status)
	}
	if w.RequestID != "" {
		add("The provider calls the request %s.", payload.Line(w.RequestID, 120))
	}
	if w.Error != "" {
		add("The connection said: %s", payload.Line(w.Error, 300))
	}
	return seen
}

func arrival(w jobs.WireFacts) string {
	if w.FirstByteAt.IsZero() {
		return ""
	}
	if w.LastByteAt.IsZero() || w.LastByteAt.Equal(w.FirstByteAt) {
		return " at " + clockOf(w.FirstByteAt)
	}
	return ", from " + clockOf(w.FirstByteAt) + " to " + clockOf(w.LastByteAt)
}

func clockOf(t time.Time) string { return t.UTC().Format("15:04:05.000") + " UTC" }
