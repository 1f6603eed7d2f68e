package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"onejob/app"
	"onejob/client"
	"onejob/config"
)

// leakless runs the tests and looks for what they left running.
type leakless struct{ m *testing.M }

func (l leakless) Run() int {
	code := l.m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// TestMain makes this test binary the command onejob where a script runs it.
func TestMain(m *testing.M) { testscript.Main(leakless{m}, map[string]func(){"onejob": main}) }

// TestScripts runs testdata/*.txtar, each against a server of its own that is what
// onejob dev is. Besides testscript's commands there are:
//
//	exits CODE COMMAND…   run it; it must end with that code
//	until KEY STATE…      wait until the job with that key is in one of those states
//	jobid KEY NAME        put the id of the job with that key into the variable NAME
//	interrupt             ^C for the command in the background
//	ended CODE            what was interrupted must have ended with that code, after wait
//	door                  put a door before the server, for the commands that follow
//	asked END             wait until a path with that end was asked for at the door
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true, Setup: serveScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scriptExits, "until": scriptUntil, "jobid": scriptJobID, "interrupt": scriptInterrupt, "ended": scriptEnded,
			"door": scriptDoor, "asked": scriptAsked,
		},
	})
}

// scriptPatience bounds every wait of a script.
const scriptPatience = 30 * time.Second

// serveScript starts the script's own server.
func serveScript(env *testscript.Env) error {
	cfg, err := config.Demo(config.WithAddr("127.0.0.1:0"))
	if err != nil {
		return err
	}
	cfg.Drain = 100 * time.Millisecond // nobody waits for what hangs
	a := app.New(cfg, app.WithAPI(), app.WithWorker(), app.WithEmbeddedRedis(), app.WithDevKeys())
	ctx, cancel := context.WithTimeout(context.Background(), scriptPatience)
	defer cancel()
	if err := a.Start(ctx); err != nil {
		return errors.Join(err, a.Close())
	}
	env.Defer(func() { _ = a.Close() })
	env.Setenv("ONEJOB_URL", "http://"+a.Addr())
	env.Setenv("ONEJOB_API_KEY", "dev-key")
	env.Values[interrupted{}] = &interrupted{}
	return nil
}

// interrupted is the command in the background that was, and the door it goes through.
type interrupted struct {
	mu   sync.Mutex
	cmd  *exec.Cmd
	door *door
}

func scriptExits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("ended with %d, want %d", got, want)
	}
}

// scriptJob is the one of the owner dev with that key; nil if there is none.
func scriptJob(ctx context.Context, ts *testscript.TestScript, key string) *client.Job {
	c, err := client.New(ts.Getenv("ONEJOB_URL"), "dev-key")
	ts.Check(err)
	for job, err := range c.List(ctx, client.Query{Key: key}) {
		ts.Check(err)
		return job
	}
	return nil
}

func scriptUntil(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), scriptPatience)
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		if job := scriptJob(ctx, ts, args[0]); job != nil && slices.Contains(args[1:], string(job.State)) {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			ts.Fatalf("the job with the key %s does not become %v", args[0], args[1:])
		}
	}
}

func scriptJobID(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), scriptPatience)
	defer cancel()
	job := scriptJob(ctx, ts, args[0])
	if job == nil {
		ts.Fatalf("there is no job with the key %s", args[0])
	}
	ts.Setenv(args[1], job.ID)
}

func scriptInterrupt(ts *testscript.TestScript, _ bool, _ []string) {
	kept := ts.Value(interrupted{}).(*interrupted)
	kept.mu.Lock()
	defer kept.mu.Unlock()
	kept.cmd = ts.BackgroundCmds()[0]
	ts.Check(kept.cmd.Process.Signal(os.Interrupt))
}

func scriptEnded(ts *testscript.TestScript, _ bool, args []string) {
	kept := ts.Value(interrupted{}).(*interrupted)
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if got := strconv.Itoa(kept.cmd.ProcessState.ExitCode()); got != args[0] {
		ts.Fatalf("ended with %s, want %s", got, args[0])
	}
}
