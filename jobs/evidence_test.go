package jobs

import (
	"encoding/json"
	"testing"
	"time"

	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestEvidence: what is kept in short is given back byte for byte; what cannot be is
// kept as it is.
func TestEvidence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ evidence, stored string }{
		"a whole answer": {
			`{"sent_at":"2026-11-30T17:21:03.342813392Z","first_byte_at":"2026-11-30T17:21:03.342915783Z","last_byte_at":"2026-11-30T17:21:04Z","bytes_written":1025,"bytes_read":1051,"status":200,"complete":true,"request_id":"req_1"}`,
			"=1796059263342813392,102391,657084217,1025,1051,200,1,req_1",
		},
		"no answer":            {`{"sent_at":"2026-11-30T17:21:03Z","bytes_written":25,"bytes_read":0,"complete":false}`, "=1796059263000000000,,,25"},
		"a clock set back":     {`{"sent_at":"2026-11-30T17:21:03Z","first_byte_at":"2026-11-30T17:21:02Z","bytes_written":25,"bytes_read":1,"complete":false}`, "=1796059263000000000,-1000000000,,25,1"},
		"an answer to nothing": {`{"last_byte_at":"2026-11-30T17:21:03Z","bytes_written":0,"bytes_read":1,"complete":false}`, "=,,1796059263000000000,,1"},
		"commas, tabs, lines":  {`{"bytes_written":0,"bytes_read":0,"complete":false,"request_id":"a,b\tc","error":"read: reset\nby \u003cpeer\u003e, 100 %"}`, "=,,,,,,,a%2Cb%09c,read%3A+reset%0Aby+%3Cpeer%3E%2C+100+%25"},
		"nothing at all":       {`{"bytes_written":0,"bytes_read":0,"complete":false}`, "="},
		"something else":       {`{"status":200,"seen_by":"a person"}`, `{"status":200,"seen_by":"a person"}`},
		"another order":        {`{"bytes_read":1,"bytes_written":2,"complete":true}`, `{"bytes_read":1,"bytes_written":2,"complete":true}`},
		"another zone":         {`{"sent_at":"2026-11-30T17:21:03+01:00","bytes_written":1,"bytes_read":0,"complete":false}`, `{"sent_at":"2026-11-30T17:21:03+01:00","bytes_written":1,"bytes_read":0,"complete":false}`},
		"a time out of bounds": {`{"sent_at":"9999-11-30T17:21:03Z","bytes_written":1,"bytes_read":0,"complete":false}`, `{"sent_at":"9999-11-30T17:21:03Z","bytes_written":1,"bytes_read":0,"complete":false}`},
		"no JSON":              {`oops`, `oops`},
		"none":                 {``, ``},
	} {
		require.Equal(t, c.stored, storedEvidence(json.RawMessage(c.evidence)), name)
		require.Equal(t, c.evidence, string(readEvidence(c.stored)), name)
	}
}

// FuzzEvidence: whatever is reported as evidence reads back as it was.
func FuzzEvidence(f *testing.F) {
	f.Add(`{"sent_at":"2026-11-30T17:21:03.342813392Z","bytes_written":1,"bytes_read":-1,"status":200,"complete":true}`)
	f.Add(`{"bytes_written":1,"bytes_read":0,"complete":false,"request_id":"\u00e9,%2C","error":"+ "}`)
	f.Add(`{"sent_at":"0001-01-01T00:00:00Z"}`)
	f.Fuzz(func(t *testing.T, evidence string) {
		if !json.Valid([]byte(evidence)) {
			t.Skip()
		}
		require.Equal(t, evidence, string(readEvidence(storedEvidence(json.RawMessage(evidence)))))
	})
}

// TestEvidence_BothLibraries: processes of two versions, of which one writes evidence by
// encoding/json, give each other's back byte for byte.
func TestEvidence_BothLibraries(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) time.Time {
			return time.Unix(0, rapid.Int64Range(0, 1<<61).Draw(t, name)).UTC()
		}
		facts := WireFacts{
			SentAt: at("sent"), FirstByteAt: at("first"), LastByteAt: at("last"), BytesWritten: rapid.Int64().Draw(t, "written"),
			BytesRead: rapid.Int64().Draw(t, "read"), Status: rapid.Int().Draw(t, "status"), Complete: rapid.Bool().Draw(t, "complete"),
			RequestID: rapid.String().Draw(t, "request"), Error: rapid.String().Draw(t, "error") + "<&>\u2028\ufffd\x00",
		}
		ever, err := json.Marshal(facts)
		require.NoError(t, err)
		now, err := jsonv1.Marshal(facts)
		require.NoError(t, err)
		require.Equal(t, string(ever), string(now))
	})
}
