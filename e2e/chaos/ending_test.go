package chaos_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"onejob/jobs"
)

// readers is how many stories are read at a time.
const readers = 24

// collect reads everything that is known of every key at the end: the history's calls,
// the ledger, the list of all jobs, and each job with its trail. There is nothing that a
// verdict goes by beside it.
func (w *world) collect(ctx context.Context, n int) map[string]*story {
	w.t.Helper()
	stories := w.history.stories()
	require.Len(w.t, stories, n, "keys that were asked for (seed %d)", w.seed)
	require.NoError(w.t, w.ledger.read())
	file(stories, w.ledger.entries)
	require.NoError(w.t, w.listAll(ctx, stories), "seed %d", w.seed)
	require.NoError(w.t, w.readAll(ctx, stories), "seed %d", w.seed)
	return stories
}

// file gives every line of the ledger to the story whose key it has, and to the one
// whose attempt it is of: they are the same, or both are wrong. A line that belongs to
// nobody is a story of its own.
func file(stories map[string]*story, entries []entry) {
	byJob := map[string]*story{}
	for _, s := range stories {
		byJob[s.Job.ID] = s
	}
	for _, e := range entries {
		job, _, _ := strings.Cut(e.Attempt, "-a")
		owners := []*story{stories[e.Key]}
		if owner := byJob[job]; owner != owners[0] {
			owners = append(owners, owner)
		}
		owners = slices.DeleteFunc(owners, func(s *story) bool { return s == nil })
		if len(owners) == 0 {
			stray := &story{Stray: finding{"I2", "the provider was asked for an attempt of no job, under a key that nobody used"}}
			stories["ledger line "+fmt.Sprint(e.Seq)] = stray
			owners = []*story{stray}
		}
		for _, s := range owners {
			s.Ledger = append(s.Ledger, e)
		}
	}
}

// listAll reads the list of all jobs, as an operator, and gives every story the jobs
// that are under its key.
func (w *world) listAll(ctx context.Context, stories map[string]*story) error {
	for _, s := range stories {
		s.Listed = []string{}
	}
	var page struct {
		Data []jobs.Job `json:"data"`
		Next string     `json:"next_cursor"`
	}
	for first := true; first || page.Next != ""; first = false {
		path := "/v1/jobs?limit=100"
		if !first {
			path += "&after=" + page.Next
		}
		page.Data, page.Next = nil, ""
		if err := w.look(ctx, path, &page); err != nil {
			return err
		}
		for i := range page.Data {
			listed(stories, &page.Data[i])
		}
	}
	return nil
}

func listed(stories map[string]*story, job *jobs.Job) {
	s := stories[job.Owner+"."+job.IdempotencyKey]
	if s == nil {
		s = &story{Job: *job, Stray: finding{"I7", "the list has a job under a key that nobody used"}}
		stories["job "+job.ID] = s
	}
	s.Listed = append(s.Listed, job.ID)
}

func (w *world) readAll(ctx context.Context, stories map[string]*story) error {
	next := make(chan string)
	failed := make(chan error, len(stories))
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			for key := range next {
				if err := w.readEnd(ctx, stories[key]); err != nil {
					failed <- fmt.Errorf("reading the end of %s: %w", key, err)
				}
			}
		})
	}
	for key, s := range stories {
		switch {
		case s.Stray.rule != "":
		case s.Job.ID == "":
			failed <- fmt.Errorf("%s was never acknowledged", key)
		default:
			next <- key
		}
	}
	close(next)
	all.Wait()
	close(failed)
	var errs []error
	for err := range failed {
		if errs = append(errs, err); len(errs) == shownMost {
			break
		}
	}
	return errors.Join(errs...)
}

// readEnd reads the job and its trail as they are at one moment: what is written between
// the two is read again. The reading is a call like any other in the job's history.
func (w *world) readEnd(ctx context.Context, s *story) error {
	const tries = 40
	for range tries {
		c, job, err := w.readJob(ctx, s)
		if err != nil {
			return err
		}
		if c.Status == http.StatusNotFound {
			s.Gone = true
			return nil
		}
		if s.Trail, err = w.trailOf(ctx, s.Job.ID); err != nil {
			return err
		}
		if n := len(s.Trail); n == 0 || s.Trail[n-1].At.Go().Add(msec+slack).Before(c.Start) {
			s.Job, s.Calls = job, append(s.Calls, c)
			return nil
		}
		if !rest(ctx, 100*time.Millisecond) {
			break
		}
	}
	return fmt.Errorf("job %s is still being written", s.Job.ID)
}

// readJob asks for the job as an operator, not through a proxy, until it is answered.
func (w *world) readJob(ctx context.Context, s *story) (call, jobs.Job, error) {
	var last error
	for i := range 120 {
		c := call{Key: s.key(), Owner: operator, Kind: "get", Path: "/v1/jobs/" + s.Job.ID, Start: time.Now()}
		resp, raw, err := w.send(ctx, "http://"+w.apis[i%apis].addr, request{owner: operator, method: http.MethodGet, path: c.Path})
		c.End = time.Now()
		var job jobs.Job
		if err == nil {
			err = c.hear(resp, raw)
		}
		if err == nil && c.ok() {
			err = json.Unmarshal(raw, &job)
		}
		if err == nil && c.answered() {
			return c, job, nil
		}
		if last = err; last == nil {
			last = fmt.Errorf("%s was answered %d", c.Path, c.Status)
		}
		if !rest(ctx, 250*time.Millisecond) {
			break
		}
	}
	return call{}, jobs.Job{}, last
}

// trailOf reads a trail to its end, page by page.
func (w *world) trailOf(ctx context.Context, id string) ([]jobs.Event, error) {
	const page = "/events?limit=200"
	var all []jobs.Event
	for path := "/v1/jobs/" + id + page; ; {
		var read struct {
			Data []jobs.Event `json:"data"`
			Next string       `json:"next_cursor"`
		}
		if err := w.look(ctx, path, &read); err != nil {
			return nil, err
		}
		if all = append(all, read.Data...); read.Next == "" {
			return all, nil
		}
		path = "/v1/jobs/" + id + page + "&after=" + read.Next
	}
}
