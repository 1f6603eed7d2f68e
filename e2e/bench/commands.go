package main

import (
	"context"
	"fmt"
	"strings"

	"onejob/e2e/process"
)

// counted is how many jobs are followed, one after the other; a first one before
// them has Redis load the scripts.
const counted = 5

// countCommands has Redis tell every command it is given (MONITOR) while one job goes
// its way in idle processes, and counts those about this job: each is a round trip of
// its own. The rest is what idle processes do (polls, sweeps).
func countCommands(ctx context.Context, b *bench, _ string) error {
	api, err := b.onejob(ctx, "api")
	if err != nil {
		return err
	}
	alone, err := b.follow(ctx, api, b.store.woken)
	b.stop(api)
	if err != nil {
		return err
	}
	for _, trips := range alone {
		b.figures.add("one submission commands", float64(len(trips)))
	}
	both, err := b.afresh(ctx, "serve")
	if err != nil {
		return err
	}
	defer b.stop(both)
	whole, err := b.follow(ctx, both, func(ctx context.Context, n int) error {
		if err := b.store.finished(ctx, n); err != nil {
			return err
		}
		return b.store.idle(ctx)
	})
	if err != nil {
		return err
	}
	for _, trips := range whole {
		b.figures.add("one job commands", float64(len(trips)))
		b.figures.add("one job commands of asynq", float64(of(trips, "asynq:")))
	}
	return nil
}

// follow submits jobs one after the other and returns the commands about each. settled
// waits until there will be no more of them, of the n-th.
func (b *bench) follow(ctx context.Context, s *server, settled func(ctx context.Context, n int) error) ([][]string, error) {
	c, err := dial(s.addr)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var all [][]string
	for n := range counted + 1 {
		id := ""
		lines, err := b.store.told(ctx, func() error {
			body, err := c.expect(post(nil, "/v1/jobs", newKey(), submitBody), 202)
			if err != nil {
				return err
			}
			id = idIn(body)
			return settled(ctx, n+1)
		})
		if err != nil {
			return nil, err
		}
		found := about(lines, id)
		if len(found) == 0 {
			return nil, fmt.Errorf("no command about job %s among the %d that Redis told of", id, len(lines))
		}
		if n > 0 {
			all = append(all, found)
		}
	}
	return all, nil
}

// woken waits until so many wake-ups are on the queue.
func (s *store) woken(ctx context.Context, count int) error {
	return process.Until(ctx, startTime, func(ctx context.Context) error {
		n, err := s.queued(ctx)
		if err == nil && n < int64(count) {
			err = fmt.Errorf("%d of %d wake-ups are on the queue", n, count)
		}
		return err
	})
}

// about groups what MONITOR told by the commands that clients sent, each with what
// its script did, and returns those that name the job somewhere.
func about(lines []string, id string) []string {
	var all []string
	for _, line := range lines {
		if fromScript(line) && len(all) > 0 {
			all[len(all)-1] += line
			continue
		}
		all = append(all, line)
	}
	var found []string
	for _, command := range all {
		if strings.Contains(command, id) {
			found = append(found, command)
		}
	}
	return found
}

// fromScript tells the lines of a script from those of a client:
// `1700000000.000001 [0 lua] "hset" …`.
func fromScript(line string) bool {
	_, rest, _ := strings.Cut(line, "[")
	source, _, _ := strings.Cut(rest, "]")
	return strings.HasSuffix(source, " lua")
}

// of counts the commands whose first key begins so.
func of(commands []string, prefix string) int {
	n := 0
	for _, command := range commands {
		_, keys, isScript := strings.Cut(command, `"evalsha" "`)
		if !isScript {
			_, keys, _ = strings.Cut(command, `"fcall" "`)
		}
		parts := strings.SplitN(keys, `" "`, 4)
		if len(parts) > 2 && strings.HasPrefix(parts[2], prefix) {
			n++
		}
	}
	return n
}
