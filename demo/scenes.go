package demo

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"onejob/jobs"
)

// scene is one fracture: what is done, what is promised, and why it holds.
type scene struct {
	title string
	why   string
	play  func(context.Context, *stage) error
}

var scenes = []scene{
	{
		"The double click: one click, fifty requests at once", `The key is reserved by one SET NX in Redis, before anything else happens: the first
request makes the job, the others get that job.`, doubleClick,
	},
	{
		"The reused key: the same key, another page", `The key is bound to a hash of the exact payload. Running the second page under the
first one's name, or answering with the first one's sheet, would both be wrong.`, reusedKey,
	},
	{
		"The silence: the printer does not answer in time", `A time-out says nothing about the sheet. It is unknown, not failed; a second attempt
could print it twice, so none starts until this one is settled. The call is still
listened to, and its late answer settles it.`, silence,
	},
	{
		"The reverse finish: the first attempt answers last", `The result slot is taken once, by compare-and-swap on the job's version. What comes
later is dropped; its hash, size and time are kept, so that nobody wonders.`, reverseFinish,
	},
}

type page = map[string]any

func doubleClick(ctx context.Context, s *stage) error {
	const clicks = 50
	replies := make([]reply, clicks)
	errs := make([]error, clicks)
	var wg sync.WaitGroup
	for i := range clicks {
		wg.Go(func() { replies[i], errs[i] = s.caller.submit(ctx, "click", page{"page": "Invoice 7"}, 5) })
	}
	wg.Wait()
	ids, replayed := map[string]int{}, 0
	for i, r := range replies {
		if errs[i] != nil {
			return errs[i]
		}
		ids[r.job.ID]++
		if r.replayed {
			replayed++
		}
	}
	s.promise(len(ids) == 1, "%d requests, %d job", clicks, len(ids))
	s.promise(replayed == clicks-1, "%d of them were told that it was there already", replayed)
	s.promise(s.shop.printed("Invoice 7") == 1, "%d sheet printed", s.shop.printed("Invoice 7"))
	return nil
}

func reusedKey(ctx context.Context, s *stage) error {
	r, err := s.caller.submit(ctx, "click", page{"page": "Invoice 8"}, 0)
	if err != nil {
		return err
	}
	s.promise(r.status == http.StatusConflict, "refused with %d %s", r.status, problemName(r.problem.Type))
	s.promise(s.shop.printed("Invoice 8") == 0, "%d sheets printed", s.shop.printed("Invoice 8"))
	return nil
}

func silence(ctx context.Context, s *stage) error {
	r, err := s.caller.submit(ctx, "slow", page{"page": "Poster", "slow": page{"inkjet": "2500ms"}}, 0)
	if err != nil {
		return err
	}
	job, err := s.caller.until(ctx, r.job.ID, func(j jobs.Job) bool { return j.State == jobs.Unknown })
	if err != nil {
		return err
	}
	s.promise(job.State == jobs.Unknown, "after a second of silence the job is %s, not failed", job.State)
	again, err := s.caller.post(ctx, "/v1/jobs/"+job.ID+"/attempts", page{"reason": "it takes so long"})
	if err != nil {
		return err
	}
	s.promise(again.status == http.StatusConflict, "another attempt is refused: %d %s", again.status, problemName(again.problem.Type))
	s.say("      %s", again.problem.Detail)
	settled, err := s.caller.get(ctx, job.ID, 5)
	if err != nil {
		return err
	}
	s.promise(settled.job.State == jobs.Succeeded, "the late answer settles it: %s", settled.job.State)
	s.promise(s.shop.printed("Poster") == 1, "%d sheet printed", s.shop.printed("Poster"))
	return nil
}

func reverseFinish(ctx context.Context, s *stage) error {
	r, err := s.caller.submit(ctx, "race", page{"page": "Map", "slow": page{"inkjet": "4s"}}, 0)
	if err != nil {
		return err
	}
	job, err := s.caller.until(ctx, r.job.ID, func(j jobs.Job) bool { return j.State == jobs.Unknown })
	if err != nil {
		return err
	}
	cancelled, err := s.caller.post(ctx, "/v1/jobs/"+job.ID+"/attempts/1/cancel", page{"reason": "the customer cannot wait"})
	if err != nil {
		return err
	}
	s.promise(cancelled.status == http.StatusOK, "a person gives the silent attempt up, and accepts that a sheet may still come")
	opened, err := s.caller.post(ctx, "/v1/jobs/"+job.ID+"/attempts", page{"provider": "laser", "reason": "the other printer"})
	if err != nil {
		return err
	}
	s.promise(opened.status == http.StatusCreated, "only then another attempt opens, at the other printer")
	won, err := s.caller.get(ctx, job.ID, 5)
	if err != nil {
		return err
	}
	s.promise(won.job.CompletedBy == 2, "attempt %d wins: %s", won.job.CompletedBy, won.job.Result)
	late, err := s.caller.until(ctx, job.ID, func(j jobs.Job) bool { return j.Attempt(1).LateResult != nil })
	if err != nil {
		return err
	}
	first := late.Attempt(1)
	s.promise(string(late.Result) == string(won.job.Result) && late.CompletedBy == 2,
		"attempt 1 answers late and changes nothing: %d bytes, sha256 %.12s…, discarded (%s)",
		first.LateResult.Bytes, first.LateResult.SHA256, first.LateResult.Reason)
	return nil
}

// problemName is the last part of a problem's type.
func problemName(uri string) string { return uri[strings.LastIndex(uri, "/")+1:] }
