package recovery

import (
	"context"
	"errors"
	"fmt"

	"onejob/jobs"
	"onejob/tasks"
)

// Finding is something that does not agree with the records.
type Finding struct {
	Job      string `json:"job"`
	Where    string `json:"where"`
	What     string `json:"what"`
	Repaired bool   `json:"repaired"`
}

// Checked sums up a check.
type Checked struct {
	Jobs     int `json:"jobs"`
	Tasks    int `json:"tasks"`
	Findings int `json:"findings"`
	// Newer are jobs that only a newer onejob can read: they were not compared.
	Newer int `json:"newer"`
}

// Fsck compares indexes, due sets, times to live and queues with the records of
// all jobs (I11), and with repair makes them agree. It can run beside a live
// system: each job is looked at in one script, and what is in motion agrees at
// every instant. queues are the providers'.
type Fsck struct {
	Store  *jobs.Store
	Queue  *tasks.Queue
	Queues []string
	Repair bool
	Found  func(Finding)

	checked Checked
}

// Run checks everything once.
func (f *Fsck) Run(ctx context.Context) (Checked, error) {
	if err := f.Store.EachJob(ctx, func(id string) error { return f.job(ctx, id) }); err != nil {
		return f.checked, err
	}
	if err := f.Store.Strays(ctx, f.Repair, f.stray); err != nil {
		return f.checked, err
	}
	if err := f.Store.Recount(ctx, f.Repair, f.miscount); err != nil {
		return f.checked, err
	}
	for _, queue := range f.Queues {
		if err := f.queue(ctx, queue); err != nil {
			return f.checked, err
		}
	}
	return f.checked, nil
}

func (f *Fsck) found(finding Finding) {
	f.checked.Findings++
	f.Found(finding)
}

func (f *Fsck) job(ctx context.Context, id string) error {
	f.checked.Jobs++
	problems, err := f.Store.Mend(ctx, id, f.Repair)
	if _, ok := errors.AsType[*jobs.Refusal](err); ok {
		return nil // expired meanwhile
	}
	if _, ok := errors.AsType[*jobs.NewerSchema](err); ok {
		f.checked.Newer++
		return nil
	}
	if err != nil {
		return err
	}
	for _, problem := range problems {
		f.found(Finding{Job: id, Where: "record", What: problem, Repaired: f.Repair && !jobs.Unmendable(problem)})
	}
	return nil
}

// miscount comes after the jobs, whose indexes are right by then where they are mended.
func (f *Fsck) miscount(m jobs.Miscount) error {
	what := fmt.Sprintf("%d open jobs of owner %s are counted, there are %d", m.Counted, m.OwnerHash, m.There)
	f.found(Finding{Where: m.Key, What: what, Repaired: f.Repair})
	return nil
}

func (f *Fsck) stray(s jobs.Stray) error {
	f.found(Finding{Job: s.JobID, Where: s.Key, What: "the record of " + s.Member + " is not there", Repaired: f.Repair})
	return nil
}

// queue looks for wake-ups of jobs that are not there. Any other wake-up is
// harmless however old, and one that is missing the sweeper makes.
func (f *Fsck) queue(ctx context.Context, name string) error {
	return f.Queue.EachWake(name, func(id string, w tasks.Wake) error {
		f.checked.Tasks++
		_, err := f.Store.Get(ctx, w.JobID)
		if _, ok := errors.AsType[*jobs.NewerSchema](err); ok {
			return nil // counted with the jobs
		}
		if _, ok := errors.AsType[*jobs.Refusal](err); !ok {
			return err
		}
		if f.Repair {
			if err := f.Queue.Delete(name, id); err != nil {
				return fmt.Errorf("deleting task %s: %w", id, err)
			}
		}
		f.found(Finding{Job: w.JobID, Where: "queue " + name, What: "task " + id + " wakes a job that is not there", Repaired: f.Repair})
		return nil
	})
}
