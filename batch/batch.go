// Package batch sends scripts and functions to Redis as they come, over one connection,
// without waiting for the answers of those before: many that run at the same moment go out
// in few writes and come back in few reads, and none of them waits for the last of a batch.
// It is go-redis's automatic pipelining in full duplex, which go-redis calls
// experimental: its version is pinned, and what we need of it is tested here.
//
// What was not answered when a connection broke is sent again, and so may run twice. The
// verbs of package lua know their own operation again. What takes something off a queue
// (asynq's dequeue, the refill of package tasks) takes the next thing then; the first is
// found by the sweeper, like any delivery that was lost on its way (design §4).
package batch

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Client is a Redis client whose scripts share a connection. All else is the client's
// own. It is safe for concurrent use.
type Client struct {
	redis.UniversalClient
	pipe *redis.AutoPipeliner
	send redis.ProcessHook // through the pipe, past the watch
}

// pipeliner are the clients that can gather commands.
type pipeliner interface {
	AsyncAutoPipelineWithOptions(options *redis.AutoPipelineOptions) (*redis.AutoPipeliner, error)
}

// New returns a Client over rdb, which should be made as Carrier says, and shows what
// either is asked to send to watch, if that is not nil: all but what the making of a
// connection for scripts asks. Of a script watch may look at the name and the arguments
// only, for its answer may come after its caller has gone. A script that a Cluster's
// client cannot place may be shown twice. New does not close rdb; closing rdb ends it.
//
// Scripts share rdb's connections, and what it knows of where the master is: two clients
// of a Sentinel hear of a failover at different times. What the old master acknowledged
// on the one, when the other had compared the new one with what was known until then,
// would be lost and not noticed (jobs.Clockwork).
func New(rdb redis.UniversalClient, watch redis.Hook) (*Client, error) {
	able, ok := rdb.(pipeliner)
	if !ok {
		return nil, fmt.Errorf("a %T cannot gather commands", rdb)
	}
	if one, ok := rdb.(*redis.Client); ok {
		able = unwatched(one)
	}
	c := &Client{UniversalClient: rdb}
	c.send = c.submit
	if watch != nil {
		rdb.AddHook(watch)
		c.send = watch.ProcessHook(c.submit)
	}
	duplex := redis.DefaultAutoPipelineOptions()
	duplex.FullDuplex = true
	duplex.FullDuplexWindow = window
	var err error
	if c.pipe, err = able.AsyncAutoPipelineWithOptions(duplex); err != nil {
		return nil, fmt.Errorf("gathering commands: %w", err)
	}
	return c, nil
}

// unwatched is the same client, over the same connections, without the hooks that are
// added to it from here on (and with the read timeout for writing, too). A hook of the
// client that gathers costs each command a goroutine and a look at its stack, 7 % of all
// a submission takes: scripts are shown to the watch by their own callers instead. A
// client of a Cluster needs no such copy, for what it gathers goes past its hooks.
func unwatched(rdb *redis.Client) *redis.Client { return rdb.WithTimeout(rdb.Options().ReadTimeout) }

// EvalSha runs a script by its digest, together with others. It returns when ctx
// ends, though the script may run all the same: as with a reply that was lost, the
// caller does not know.
func (c *Client) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	return c.run(ctx, "evalsha", sha, keys, args)
}

// FCall runs a function as EvalSha does a script.
func (c *Client) FCall(ctx context.Context, function string, keys []string, args ...any) *redis.Cmd {
	return c.run(ctx, "fcall", function, keys, args)
}

func (c *Client) run(ctx context.Context, name, what string, keys []string, args []any) *redis.Cmd {
	command := make([]any, 0, 3+len(keys)+len(args))
	command = append(command, name, what, len(keys))
	for _, key := range keys {
		command = append(command, key)
	}
	cmd := redis.NewCmd(ctx, append(command, args...)...)
	if len(keys) > 0 {
		cmd.SetFirstKeyPos(3) // which tells a Cluster where to send it
	}
	// The command belongs to the connection until it is answered: who does not wait for
	// it must not look at it.
	if err := c.send(ctx, cmd); err != nil && ctx.Err() != nil {
		given := redis.NewCmd(ctx, name, what)
		given.SetErr(err)
		return given
	}
	return cmd
}

// submit hands a command to the connection and waits for its answer, as long as ctx.
func (c *Client) submit(ctx context.Context, cmd redis.Cmder) error {
	answer := c.pipe.Submit(ctx, cmd)
	go giveWay()
	return answer.WaitContext(ctx) //nolint:wrapcheck // go-redis's own word
}

// giveWay does nothing, in a goroutine of its own: Go runs next what was woken last, and
// that was the one that writes to Redis. It would go out with this one script. So it
// comes after those that are about to bring another, and what they bring goes out in one
// write and is read in one. Where nobody else is about, it costs less than a microsecond.
func giveWay() {}
