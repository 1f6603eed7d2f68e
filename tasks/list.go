package tasks

import (
	"errors"
	"fmt"

	"github.com/hibiken/asynq"
)

// pageSize is how many tasks one look at a queue reads.
const pageSize = 500

// EachWake calls each with every wake-up of a queue that is not with a worker.
func (q *Queue) EachWake(queue string, each func(id string, w Wake) error) error {
	lists := []func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error){
		q.inspector.ListPendingTasks, q.inspector.ListScheduledTasks, q.inspector.ListRetryTasks, q.inspector.ListArchivedTasks,
	}
	for _, list := range lists {
		infos, err := all(queue, list)
		if err != nil {
			return err
		}
		for _, info := range infos {
			if info.Type != TypeWake {
				continue
			}
			w, err := ParseWake(info.Payload)
			if err != nil {
				continue // not one of ours
			}
			if err := each(info.ID, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// all reads a list before anything is done with it, so that what is deleted does
// not shift the pages.
func all(queue string, list func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error)) ([]*asynq.TaskInfo, error) {
	var infos []*asynq.TaskInfo
	for page := 1; ; page++ {
		found, err := list(queue, asynq.PageSize(pageSize), asynq.Page(page))
		if errors.Is(err, asynq.ErrQueueNotFound) {
			return nil, nil // nothing was ever put there
		}
		if err != nil {
			return nil, fmt.Errorf("listing the tasks of queue %s: %w", queue, err)
		}
		infos = append(infos, found...)
		if len(found) < pageSize {
			return infos, nil
		}
	}
}

// Delete takes a task that is not with a worker off its queue; one that is gone
// is no error.
func (q *Queue) Delete(queue, id string) error {
	err := q.inspector.DeleteTask(queue, id)
	if errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("deleting task %s: %w", id, err)
	}
	return nil
}
