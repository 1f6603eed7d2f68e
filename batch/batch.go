// Package batch sends scripts that run at the same moment to Redis together: one
// write and one read for all of them instead of one each. It is go-redis's automatic
// pipelining, which go-redis calls experimental: its version is pinned, and what we
// need of it is tested here. A batch that broke off is sent again as a whole; every
// script knows its own operation again.
package batch

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Client is a Redis client whose scripts go out in batches. All else is the
// client's own. It is safe for concurrent use.
type Client struct {
	redis.UniversalClient
	pipe *redis.AutoPipeliner
}

// pipeliner are the clients that can gather commands.
type pipeliner interface {
	AsyncAutoPipeline() (*redis.AutoPipeliner, error)
}

// New returns a Client over rdb, which it does not close; closing rdb ends it.
func New(rdb redis.UniversalClient) (*Client, error) {
	able, ok := rdb.(pipeliner)
	if !ok {
		return nil, fmt.Errorf("a %T cannot gather commands", rdb)
	}
	pipe, err := able.AsyncAutoPipeline()
	if err != nil {
		return nil, fmt.Errorf("gathering commands: %w", err)
	}
	return &Client{UniversalClient: rdb, pipe: pipe}, nil
}

// EvalSha runs a script by its digest, together with others. It returns when ctx
// ends, though the script may run all the same: as with a reply that was lost, the
// caller does not know.
func (c *Client) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	command := []any{"evalsha", sha, len(keys)}
	for _, key := range keys {
		command = append(command, key)
	}
	cmd := redis.NewCmd(ctx, append(command, args...)...)
	if len(keys) > 0 {
		cmd.SetFirstKeyPos(3) // which tells a Cluster where to send it
	}
	// The command belongs to its batch until that is over: who does not wait for it
	// must not look at it.
	if err := c.pipe.Submit(ctx, cmd).WaitContext(ctx); err != nil && ctx.Err() != nil {
		given := redis.NewCmd(ctx, "evalsha", sha)
		given.SetErr(err)
		return given
	}
	return cmd
}
