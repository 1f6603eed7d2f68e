package jobs

import (
	"fmt"
	"strconv"
	"time"

	"onejob/lua"
)

// answer is a script's reply in Go: see reply() in lua/record.lua.
type answer struct {
	jobID    string
	word     lua.Answer
	seq      int64
	version  int64
	state    State
	revision int64
	detail   string
	opened   int
	provider string
	wait     time.Duration
	owner    string // its hash
	rest     []any
}

func readAnswer(jobID string, raw []any) (*answer, error) {
	const fixed = 10
	if len(raw) < fixed {
		return nil, fmt.Errorf("job %s: script answered %d fields, want at least %d", jobID, len(raw), fixed)
	}
	a := &answer{
		jobID:    jobID,
		word:     lua.Answer(str(raw[0])),
		seq:      num(raw[1]),
		version:  num(raw[2]),
		state:    State(str(raw[3])),
		revision: num(raw[4]),
		detail:   str(raw[5]),
		opened:   int(num(raw[6])),
		provider: str(raw[7]),
		wait:     time.Duration(num(raw[8])) * time.Millisecond,
		owner:    str(raw[9]),
		rest:     raw[fixed:],
	}
	if a.word == lua.NewerSchema {
		return nil, &NewerSchema{JobID: jobID, Schema: a.detail}
	}
	if code, refused := refusals[a.word]; refused {
		return nil, a.refusal(code)
	}
	return a, nil
}

func (a *answer) refusal(code Code) *Refusal {
	r := &Refusal{Code: code, JobID: a.jobID, State: a.state, Version: a.version}
	if len(a.rest) >= 5 {
		r.Attempt = int(num(a.rest[0]))
		r.AttemptState = AttemptState(str(a.rest[1]))
		r.AttemptReason = str(a.rest[2])
		r.Since = Time(num(a.rest[3]))
		r.ListeningUntil = Time(num(a.rest[4]))
	}
	return r
}

// wakes are the attempts this answer asks to be woken.
func (a *answer) wakes() []Wake {
	if a.opened == 0 {
		return nil
	}
	return []Wake{{JobID: a.jobID, Attempt: a.opened, Provider: a.provider, Owner: a.owner, In: a.wait}}
}

func str(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return ""
}

func num(v any) int64 {
	if n, ok := v.(int64); ok {
		return n
	}
	return whole(str(v))
}

// whole is the number that a field says; 0 where there is none.
func whole(s string) int64 {
	if s == "" {
		return 0 // of many fields, without the error that is made for it
	}
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}
