package dashboard

import (
	"fmt"
	"regexp"
	"strings"

	"onejob/jobs"
	"onejob/tasks"
)

func (p *Pages) taskRoutes() []route {
	return []route{{"GET /tasks/{id}", p.taskPage}}
}

// taskIDs are the ids of the tasks there are: wake-ups, <attempt id> with -w<k> where
// it had to be woken again, and tickets (design §4).
var taskIDs = regexp.MustCompile(`^(job_[0-9A-Z]{28})-(?:a[0-9]+(?:-w[0-9]+)?|retry-v[0-9]+)$`)

// taskPage is GET /tasks/{id}: the way from a task, as asynqmon shows it, to its job.
func (p *Pages) taskPage(v *visit) error {
	job, ok := jobOfTask(v.r.PathValue("id"))
	if !ok {
		return refuse("not-found", "This is not the id of a task of ours: those are <job>-a<n>, <job>-a<n>-w<k> and <job>-retry-v<version>.")
	}
	return v.redirect(jobURL(job))
}

// jobOfTask is the job a task is about.
func jobOfTask(id string) (string, bool) {
	found := taskIDs.FindStringSubmatch(id)
	if found == nil {
		return "", false
	}
	return found[1], true
}

// jobURL is the page of a job.
func jobURL(id string) string { return Root + "/jobs/" + id }

// ticketURL is asynqmon's page of the ticket of a failed job (design §4).
func ticketURL(job *jobs.Job) string {
	return fmt.Sprintf("%s/tasks/%s-retry-v%d", queueURL(tasks.QueueOperator), job.ID, job.Version)
}

// queueURL is asynqmon's page of a queue.
func queueURL(queue string) string { return MonitorRoot + "/queues/" + queue }

// jobOf is the job an audit entry's target begins with; empty when it is another's.
func jobOf(target string) string {
	id, _, _ := strings.Cut(target, " ")
	if jobIDs.MatchString(id) {
		return id
	}
	job, _ := jobOfTask(id)
	return job
}

var jobIDs = regexp.MustCompile(`^job_[0-9A-Z]{28}$`)
