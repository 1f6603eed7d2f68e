package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"onejob/dashboard/consequence"
	"onejob/jobs"
)

// Bounds of one bulk change.
const (
	bulkMost  = 500 // jobs
	bulkLooks = 50  // pages of a list that are looked through for them
	bulkPage  = 100 // jobs a page of these
	bulkHands = 8   // jobs that are changed at once
)

// bulkActions are what can be done to many jobs, and the states of those it can be
// done to.
var bulkActions = map[consequence.Action][]jobs.State{
	consequence.Retry:     {jobs.Failed},
	consequence.CancelJob: {jobs.Queued, jobs.Running, jobs.Unknown},
}

// bulkView is what the preview and the outcome of a bulk change show.
type bulkView struct {
	Action  consequence.Action
	Title   string
	Rows    []bulkRow
	Will    int // rows that would be, or were, changed
	Wont    int // the others
	Twice   int // rows that risk that something happens twice
	Done    bool
	Reason  string
	Op      string
	Cut     string // what was left out
	Wrong   string
	Back    string // address of the list it came from
	Most    int
	Seconds string
	Filter  jobFilter
}

// bulkRow is one job of a bulk change.
type bulkRow struct {
	Job         *jobs.Job
	ID          string
	Consequence consequence.Consequence
	Refused     string // why it would not be, or was not, changed
	Token       string // the job as it was shown, for the confirmation
	Outcome     string // what became of it; empty in a preview
}

// bulk is POST /jobs/bulk: the preview, then the change.
func (p *Pages) bulk(v *visit) error {
	do, all := strings.CutSuffix(v.field("do"), "-all")
	action := consequence.Action(do)
	if _, ok := bulkActions[action]; !ok {
		return refuse("request-invalid", "There is no such bulk change.")
	}
	view := bulkView{Action: action, Op: v.field("op"), Most: maxReason, Filter: readFilter(v.r.PostForm)}
	view.Back = Root + "/jobs?" + view.Filter.Values().Encode()
	view.Title = map[consequence.Action]string{consequence.Retry: "Retry jobs", consequence.CancelJob: "Cancel jobs"}[action]
	if !ops.MatchString(view.Op) {
		view.Op = jobs.NewOp()
	}
	if v.field("step") == stepConfirm {
		return v.bulkConfirm(view)
	}
	var err error
	if all {
		err = v.bulkAll(&view)
	} else {
		err = v.bulkSelected(&view)
	}
	if err != nil {
		return err
	}
	return v.showBulk(http.StatusOK, view)
}

// bulkSelected previews the jobs that were ticked.
func (v *visit) bulkSelected(view *bulkView) error {
	ids := slices.Compact(slices.Sorted(slices.Values(v.r.PostForm["id"])))
	if len(ids) > bulkMost {
		view.Cut = fmt.Sprintf("You chose %d jobs; one change takes %d. The others are left out.", len(ids), bulkMost)
		ids = ids[:bulkMost]
	}
	return v.bulkPreview(view, ids)
}

// bulkAll previews all jobs that match the filter and could be changed so, the newest
// first, as many as one change takes.
func (v *visit) bulkAll(view *bulkView) error {
	q, err := view.Filter.query()
	if err != nil {
		return err
	}
	states := bulkActions[view.Action]
	if q.State != "" {
		states = []jobs.State{q.State}
	}
	ctx, cancel := context.WithTimeout(v.r.Context(), 2*storeTimeout)
	defer cancel()
	looks := 0
	for _, state := range states {
		q.State, q.Limit, q.After = state, bulkPage, ""
		for more := true; more; looks++ {
			if len(view.Rows) == bulkMost || looks == bulkLooks {
				view.Cut = fmt.Sprintf("One change takes %d jobs and looks through some thousands: there are more that match. Repeat it for the rest.", bulkMost)
				break
			}
			found, err := v.cfg.Jobs.Store.List(ctx, q)
			if err != nil {
				return err
			}
			for _, job := range found.Jobs[:min(len(found.Jobs), bulkMost-len(view.Rows))] {
				view.add(v.bulkRow(view.Action, job))
			}
			more, q.After = found.HasMore, found.Next
		}
	}
	return nil
}

func (v *visit) bulkPreview(view *bulkView, ids []string) error {
	rows := make([]bulkRow, len(ids))
	err := v.each(len(ids), func(ctx context.Context, i int) error {
		job, err := v.cfg.Jobs.Store.Get(ctx, ids[i])
		if err = refusedVerb(err); problemIs(err, "not-found") {
			rows[i] = bulkRow{ID: ids[i], Refused: err.Error()}
			return nil
		}
		if err == nil {
			rows[i] = v.bulkRow(view.Action, job)
		}
		return err
	})
	for _, row := range rows {
		view.add(row)
	}
	return err
}

// bulkRow says what would become of one job.
func (v *visit) bulkRow(action consequence.Action, job *jobs.Job) bulkRow {
	row := bulkRow{Job: job, ID: job.ID, Consequence: consequence.Of(v.choice(job, action, 0, time.Now()))}
	row.Refused = row.Consequence.Refused
	if row.Refused == "" && action == consequence.Retry {
		row.Refused = v.checkProvider(job, "")
	}
	row.Token = job.ID + " " + strconv.FormatInt(job.Version, 10) + " " + seenNow(job)
	return row
}

func (b *bulkView) add(row bulkRow) {
	b.Rows = append(b.Rows, row)
	if row.Refused != "" {
		b.Wont++
		return
	}
	b.Will++
	if row.Consequence.Grade == consequence.Twice {
		b.Twice++
	}
}

// bulkConfirm makes the change, job by job; each has an entry in the audit log, the
// version it was shown at, and an outcome of its own.
func (v *visit) bulkConfirm(view bulkView) error {
	tokens := v.r.PostForm["job"]
	if len(tokens) == 0 || len(tokens) > bulkMost {
		return refuse("request-invalid", fmt.Sprintf("A bulk change takes 1 to %d jobs.", bulkMost))
	}
	reason, err := checkReason(v.field("reason"))
	if err != nil {
		view.Wrong = err.Error()
		if err := v.bulkPreview(&view, idsOf(tokens)); err != nil {
			return err
		}
		return v.showBulk(http.StatusBadRequest, view)
	}
	view.Reason, view.Done = reason, true
	rows := make([]bulkRow, len(tokens))
	began := time.Now()
	_ = v.each(len(tokens), func(ctx context.Context, i int) error {
		rows[i] = v.bulkOne(ctx, view, tokens[i])
		return nil
	})
	view.Seconds = fmt.Sprintf("%.1f s", time.Since(began).Seconds())
	for _, row := range rows {
		view.add(row)
	}
	return v.showBulk(http.StatusOK, view)
}

// bulkOne changes one job, if it is still what it was in the preview.
func (v *visit) bulkOne(ctx context.Context, view bulkView, token string) bulkRow {
	id, rest, _ := strings.Cut(token, " ")
	version, seen, _ := strings.Cut(rest, " ")
	row := bulkRow{ID: id}
	job, err := v.cfg.Jobs.Store.Get(ctx, id)
	if err != nil {
		return row.refused(refusedVerb(err))
	}
	row.Job = job
	d := decision{
		Choice: v.choice(job, view.Action, 0, time.Now()), Reason: view.Reason, Seen: seen, Op: view.Op,
	}
	if d.Version, err = strconv.ParseInt(version, 10, 64); err != nil || d.Version < 1 {
		return row.refused(refuse("request-invalid", "The form is damaged: it does not say which version was shown."))
	}
	if d.movedOn() {
		return row.refused(refuse("version-mismatch", "The job moved on since the preview. Nothing was changed."))
	}
	if view.Action == consequence.Retry {
		if wrong := v.checkProvider(job, ""); wrong != "" {
			return row.refused(refuse("request-invalid", wrong))
		}
	}
	changed, err := v.carryOut(ctx, d)
	if err != nil {
		return row.refused(err)
	}
	row.Job, row.Outcome = changed, "done"
	return row
}

// refused is a row that was not changed. What went wrong with the store is not told
// in its own words.
func (row bulkRow) refused(err error) bulkRow {
	row.Outcome = "refused"
	row.Refused = err.Error()
	if !refused(err) {
		row.Outcome, row.Refused = "failed", "The store did not answer; look at the job to see whether it was changed."
	}
	return row
}

// each runs do for 0 to n-1, some at once, each with a time of its own, and gives
// back the first error. What a person asked for is done though his browser goes away.
func (v *visit) each(n int, do func(ctx context.Context, i int) error) error {
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	next := make(chan int)
	for range min(bulkHands, n) {
		wg.Go(func() {
			for i := range next {
				ctx, cancel := decided(v.r.Context())
				if err := do(ctx, i); err != nil {
					once.Do(func() { first = err })
				}
				cancel()
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	return first
}

func idsOf(tokens []string) []string {
	ids := make([]string, len(tokens))
	for i, token := range tokens {
		ids[i], _, _ = strings.Cut(token, " ")
	}
	return ids
}

func (v *visit) showBulk(status int, view bulkView) error {
	v.show(status, "bulk", page{Title: view.Title, Nav: "Jobs", Data: view})
	return nil
}
