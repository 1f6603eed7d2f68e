package dashboard

import (
	"errors"
	"net/http"

	"onejob/jobs"
)

// answer remembers whether anything was answered, and what is left to whoever
// mounted the pages.
type answer struct {
	http.ResponseWriter
	refused error
}

// Unwrap lets http.ResponseController find what is beneath.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// withErrors answers what serve returns: with a page where a person looks, else with
// the API's problem.
func (p *Pages) withErrors(serve func(w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := serve(w, r)
		if err == nil {
			return
		}
		if gone := r.Context().Err(); gone != nil { // nobody is there to be told
			if a, ok := w.(*answer); ok {
				a.refused = gone
			}
			return
		}
		problem := p.problemOf(err)
		if wantsPage(r) || r.Header.Get("HX-Request") != "" {
			p.errorPage(w, r, problem)
			return
		}
		if a, ok := w.(*answer); ok {
			a.refused = problem
		}
	}
}

// problemOf judges any error a page can return.
func (p *Pages) problemOf(err error) *Refusal {
	var refusal *Refusal
	var verb *jobs.Refusal
	var newer *jobs.NewerSchema
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.As(err, &verb) && verb.Code == jobs.CodeNotFound:
		return &Refusal{"not-found", "There is no such job, or its record has expired."}
	case errors.As(err, &newer):
		return recordNewer()
	}
	// Whatever else is wrong, what a page shows comes from the store.
	p.cfg.Log.Error("a page of the dashboard failed", "error", err)
	return &Refusal{"store-unavailable", "The store did not answer, or not as it should. The process is alive; the page comes back with the store."}
}

// statuses are those of the API's table, for the problems a page can have.
var statuses = map[string]int{
	"request-invalid":   http.StatusBadRequest,
	"unauthorized":      http.StatusUnauthorized,
	"forbidden":         http.StatusForbidden,
	"not-found":         http.StatusNotFound,
	"job-final":         http.StatusConflict,
	"version-mismatch":  http.StatusPreconditionFailed,
	"rate-limited":      http.StatusTooManyRequests,
	"store-unavailable": http.StatusServiceUnavailable,
	"record-newer":      http.StatusServiceUnavailable,
}

// titles are the headings of the pages about them.
var titles = map[string]string{
	"request-invalid":   "This cannot be done as it was asked",
	"unauthorized":      "Sign in first",
	"forbidden":         "Not allowed",
	"not-found":         "Nothing here",
	"job-final":         "The job has moved on",
	"version-mismatch":  "The job has moved on",
	"rate-limited":      "Too many tries",
	"store-unavailable": "The store is away",
	"record-newer":      "A newer version is needed",
}

// errorPage is a page about a problem. Somebody signed in keeps his navigation.
func (p *Pages) errorPage(w http.ResponseWriter, r *http.Request, problem *Refusal) {
	status, ok := statuses[problem.Problem]
	if !ok {
		status = http.StatusInternalServerError
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "2")
	}
	title := titles[problem.Problem]
	if title == "" {
		title = "Something is wrong"
	}
	v := &visit{Pages: p, w: w, r: r}
	if status != http.StatusServiceUnavailable {
		if s, err := p.session(r); err == nil {
			v.session, v.who = s, s.who
		}
	}
	v.show(status, "error", page{Title: title, Data: problem.Detail})
}
