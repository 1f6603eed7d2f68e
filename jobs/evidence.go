package jobs

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	jsonv1 "github.com/go-json-experiment/json/v1"
)

// WireFacts are the evidence of a call over HTTP, as providers write it
// (providers.Evidence). What is not known is zero.
type WireFacts struct {
	SentAt       time.Time `json:"sent_at,omitzero"`
	FirstByteAt  time.Time `json:"first_byte_at,omitzero"`
	LastByteAt   time.Time `json:"last_byte_at,omitzero"`
	BytesWritten int64     `json:"bytes_written"`
	BytesRead    int64     `json:"bytes_read"`
	Status       int       `json:"status,omitempty"`
	Complete     bool      `json:"complete"`
	RequestID    string    `json:"request_id,omitempty"`
	Error        string    `json:"error,omitempty"`
}

// storedEvidence is evidence as records hold it: a fifth of its JSON, where that can be
// given back byte for byte; else as it is.
func storedEvidence(evidence json.RawMessage) string {
	var w WireFacts
	if jsonv1.Unmarshal(evidence, &w) != nil {
		return string(evidence)
	}
	short := w.short()
	if !bytes.Equal(readEvidence(short), evidence) {
		return string(evidence)
	}
	return short
}

// shortEvidence begins what is not JSON.
const shortEvidence = "="

// short is `=sent,first,last,written,read,status,complete,request id,error`: times in
// nanoseconds, those after sent as what passed since the one before; texts escaped as in
// a query; what is not there empty, and empty ones at the end left out.
func (w *WireFacts) short() string {
	since := func(at, before time.Time) string {
		if at.IsZero() {
			return ""
		}
		if before.IsZero() {
			before = time.Unix(0, 0)
		}
		return strconv.FormatInt(int64(at.Sub(before)), 10)
	}
	complete := ""
	if w.Complete {
		complete = "1"
	}
	return shortEvidence + strings.TrimRight(strings.Join([]string{
		since(w.SentAt, time.Time{}), since(w.FirstByteAt, w.SentAt), since(w.LastByteAt, w.FirstByteAt),
		printed(w.BytesWritten), printed(w.BytesRead), printed(int64(w.Status)), complete,
		url.QueryEscape(w.RequestID), url.QueryEscape(w.Error),
	}, ","), ",")
}

// printed is a number, empty for 0.
func printed(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// readEvidence gives evidence back as it was reported.
func readEvidence(stored string) json.RawMessage {
	stored, isShort := strings.CutPrefix(stored, shortEvidence)
	if !isShort {
		return raw(stored)
	}
	var parts [9]string
	copy(parts[:], strings.Split(stored, ","))
	after := func(since string, before time.Time) time.Time {
		if since == "" {
			return time.Time{}
		}
		if before.IsZero() {
			before = time.Unix(0, 0)
		}
		return before.Add(time.Duration(whole(since))).UTC()
	}
	w := WireFacts{
		BytesWritten: whole(parts[3]), BytesRead: whole(parts[4]), Status: int(whole(parts[5])), Complete: parts[6] == "1",
	}
	w.SentAt = after(parts[0], time.Time{})
	w.FirstByteAt = after(parts[1], w.SentAt)
	w.LastByteAt = after(parts[2], w.FirstByteAt)
	w.RequestID, _ = url.QueryUnescape(parts[7])
	w.Error, _ = url.QueryUnescape(parts[8])
	evidence, err := jsonv1.Marshal(w)
	if err != nil {
		return nil
	}
	return evidence
}
