package openai

import (
	"encoding/json"
	"testing"

	"onejob/api"
)

// FuzzBody: any bytes are a call or a problem; what a call makes is a body of POST
// /v1/jobs in the strict sense, and the same however the answer is to be sent.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"model":"chat","messages":[{"role":"user","content":"x"}]}`, `{"model":"chat","messages":[1],"stream":true,"stream_options":{"include_usage":true}}`,
		`{"model":"a","messages":[{}],"temperature":1e400}`, `{"model":"a","messages":[{}],"\u0000":"\ud83d\ude02"}`, `{"model":"","messages":[]}`, `{"model":1}`,
		`{"model":"a","messages":[{}],"stream":7}`, `{"model":"a","messages":[{}],"stream_options":[]}`, `{"model":"a","model":"b"}`, `[]`, ``, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := parse(body)
		if err != nil {
			return
		}
		job := r.job()
		members, err := api.Members(job)
		if err != nil {
			t.Fatalf("%q became %q, which is no body: %v", body, job, err)
		}
		var route string
		if json.Unmarshal(members["route"], &route) != nil || route != r.route {
			t.Fatalf("%q became a job of the route %q", body, route)
		}
		for _, name := range []string{"stream", "stream_options", "model", "messages"} {
			if _, ok := members[name]; ok {
				t.Fatalf("%s is in the intent %q", name, job)
			}
		}
	})
}
