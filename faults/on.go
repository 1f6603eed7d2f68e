//go:build faults

package faults

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// errInjected is what a point set to error fails with.
var errInjected = errors.New("injected fault")

// stopTime is more than a stop takes to reach every thread.
const stopTime = 100 * time.Millisecond

var armed = parse(os.Getenv("ONEJOB_FAULTS"))

type fault struct {
	what string
	once sync.Once
}

func parse(s string) map[string]*fault {
	faults := map[string]*fault{}
	for entry := range strings.SplitSeq(s, ",") {
		if point, what, ok := strings.Cut(entry, "="); ok {
			faults[point] = &fault{what: what}
		}
	}
	return faults
}

// Point makes happen what was asked for at this point, once.
func Point(name string) (err error) {
	f, ok := armed[name]
	if !ok {
		return nil
	}
	f.once.Do(func() {
		fmt.Fprintf(os.Stderr, "fault: %s=%s\n", name, f.what)
		switch f.what {
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case "pause":
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			// Another thread may be given the signal; this one must not get
			// past the point before all are stopped.
			time.Sleep(stopTime)
		case "error":
			err = errInjected
		}
	})
	return err
}
