package jobs_test

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// record is what Redis should hold of one job: the model's memory. Times are
// milliseconds of the store's clock.
type record struct {
	id       string
	keyHash  string
	owner    string // its hash
	actor    string // of the command at work
	state    string
	version  int64
	revision int64
	seq      int64
	created  int64
	updated  int64
	ended    int64
	winner   int
	hooks    []delivery // hooks[h-1] is delivery h
	attempts []*attempt // attempts[n-1] is attempt n
	ops      []remembered
	rest     map[string]string // fields no rule reads
	due      map[string]int64
	trail    []string
	keepJob  int64
	keepKey  int64
}

type attempt struct {
	state, provider                      string
	fence, created, notBefore            int64
	token                                string
	lease, deadline, unknownAt, finished int64
	rest                                 map[string]string
}

// delivery is an event the job's webhook is to be told of.
type delivery struct {
	event string
	at    int64
}

// remembered is an operation and the answer it was given.
type remembered struct{ op, answer, detail string }

func isOpen(state string) bool {
	return state == "starting" || state == "running" || state == "unknown"
}
func isFinal(state string) bool { return state == "succeeded" || state == "cancelled" }
func isEnded(state string) bool { return isFinal(state) || state == "failed" }

// open lists the numbers of the open attempts, except one.
func (r *record) open(except int) []int {
	var numbers []int
	for i, a := range r.attempts {
		if i+1 != except && isOpen(a.state) {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

func (r *record) at(n int) *attempt {
	if n < 1 || n > len(r.attempts) {
		return nil
	}
	return r.attempts[n-1]
}

// image is a job as it lies in Redis, for comparing.
type image struct {
	job, attempts map[string]string
	due           map[string]int64 // this job's entries
	pending       map[string]int64 // its deliveries that wait for a try
	trail         []string
	states        map[string]int64 // the state indexes it is in, and its place there
	owner         int64
	open          int64    // jobs of its owner that have not ended, as counted
	expiries      [2]int64 // of job, key; -1: none
	seq           int64
}

// image renders the record the way the scripts write it (design §3).
func (r *record) image() image {
	im := image{job: map[string]string{}, attempts: map[string]string{}, due: r.due, trail: r.trail, seq: r.seq}
	maps.Copy(im.job, r.rest)
	im.job["state"] = r.state
	for name, value := range map[string]int64{
		"version": r.version, "revision": r.revision, "attempts": int64(len(r.attempts)), "created": r.created, "updated": r.updated, "events": int64(len(r.trail)),
	} {
		im.job[name] = itoa(value)
	}
	if r.ended > 0 {
		im.job["ended"], im.job["expires"] = itoa(r.ended), itoa(r.ended+r.keepJob)
	}
	if r.winner > 0 {
		im.job["completed_by"] = strconv.Itoa(r.winner)
	}
	if len(r.ops) > 0 {
		putOps(r.ops, im.job)
	}
	for i, a := range r.attempts {
		a.render(i+1, im.attempts)
	}
	if r.rest["webhook_url"] != "" {
		im.job["hooks"] = strconv.Itoa(len(r.hooks))
	}
	for _, rendered := range []map[string]string{im.job, im.attempts} {
		maps.DeleteFunc(rendered, noColumn)
	}
	im.pending = map[string]int64{}
	for i, d := range r.hooks {
		d.render(i+1, im.attempts)
		im.pending[fmt.Sprintf("webhook:%s:h%d", r.id, i+1)] = d.at
	}
	im.states = map[string]int64{r.state: r.created}
	im.owner = r.created
	im.open = 1
	im.expiries = [2]int64{-1, -1}
	if isEnded(r.state) {
		im.open = 0
		record, key := r.ended+r.keepJob, r.ended+max(r.keepJob, r.keepKey)
		im.expiries = [2]int64{record, key}
	}
	return im
}

// noColumn tells of an empty value of what is small: in a line that is as if it were
// not there.
func noColumn(name, value string) bool {
	return value == "" && name != "error_message" && !strings.HasSuffix(name, ".error")
}

func (a *attempt) render(n int, into map[string]string) {
	put := func(name, value string) { into[fmt.Sprintf("%d.%s", n, name)] = value }
	for name, value := range a.rest {
		put(name, value)
	}
	put("state", a.state)
	put("provider", a.provider)
	put("created", itoa(a.created))
	put("not_before", itoa(a.notBefore))
	if a.token != "" {
		put("token", a.token)
	}
	for name, value := range map[string]int64{
		"fence": a.fence, "lease": a.lease, "deadline": a.deadline, "unknown_at": a.unknownAt, "finished": a.finished,
	} {
		if value != 0 {
			put(name, itoa(value))
		}
	}
}

// render writes a delivery nobody has tried yet.
func (d delivery) render(h int, into map[string]string) {
	for name, value := range map[string]string{
		"event": d.event, "at": itoa(d.at), "next": itoa(d.at), "state": "pending", "tries": "0", "wakes": "0",
	} {
		into[fmt.Sprintf("h%d.%s", h, name)] = value
	}
}

// putOps writes the latest 16 operations.
func putOps(ops []remembered, into map[string]string) {
	for i, o := range ops[max(0, len(ops)-16):] {
		into["op"+strconv.Itoa(i+1)] = o.op + "=" + o.answer + "=" + o.detail
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
