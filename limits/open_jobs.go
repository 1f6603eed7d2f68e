package limits

import (
	"context"
	"sync"
	"time"
)

// A count is good for countFor; where it says that there are too many, it is asked
// for again after brinkFor, for a job that ends makes room.
const (
	countFor = time.Second
	brinkFor = 100 * time.Millisecond
)

// openJobs is what a process knows of an owner's.
type openJobs struct {
	mu     sync.Mutex
	open   int // when they were counted, and what this process let through since
	asked  time.Time
	silent bool // the latest question was not answered
}

// Job takes a place for a job an owner wants to make and tells how many he has open
// and how many he may have; not ok: it would be one too many. For a place that was not
// used, Unused must follow.
func (l *Limiter) Job(ctx context.Context, owner string) (open, most int, ok bool) {
	most = l.settings(owner).OpenJobs
	if most == 0 {
		return 0, 0, true
	}
	j := &l.of(owner).jobs
	j.mu.Lock()
	defer j.mu.Unlock()
	if age := time.Since(j.asked); age > countFor || j.open >= most && age > brinkFor {
		l.countJobs(ctx, owner, j)
	}
	if j.open >= most && !j.silent {
		return j.open, most, false
	}
	j.open++
	return j.open, most, true
}

func (l *Limiter) countJobs(ctx context.Context, owner string, j *openJobs) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	n, err := l.count(ctx, owner)
	j.asked, j.silent = time.Now(), err != nil
	if err == nil {
		j.open = n
	}
}

// Unused gives a place back: no job was made.
func (l *Limiter) Unused(owner string) {
	if l.settings(owner).OpenJobs == 0 {
		return
	}
	j := &l.of(owner).jobs
	j.mu.Lock()
	defer j.mu.Unlock()
	j.open = max(0, j.open-1)
}
