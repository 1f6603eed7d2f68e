package chaos_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// picturesEnv is the folder for pictures of histories that are not linearizable.
const picturesEnv = "ONEJOB_CHAOS_PICTURES"

func pictures() string {
	if folder := os.Getenv(picturesEnv); folder != "" {
		return folder
	}
	return filepath.Join(os.TempDir(), "onejob-chaos")
}

// shownMost is how many stories that are wrong are told in full, and drawn.
const shownMost = 5

// verdict holds every story against the invariants, and its history against the model.
// A story is one job, and jobs share nothing that a story tells of, so each is judged for
// itself and all processors take part.
func (w *world) verdict(stories map[string]*story, n int) {
	w.t.Helper()
	began := time.Now()
	v := &verdict{t: w.t, seed: w.seed, pictures: pictures()}
	next := make(chan string)
	var judges sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		judges.Go(func() {
			for key := range next {
				v.judge(key, stories[key])
			}
		})
	}
	for key := range stories {
		next <- key
	}
	close(next)
	judges.Wait()
	w.t.Logf("%d jobs judged in %v", n, time.Since(began).Round(time.Millisecond))
	if v.wrong > 0 {
		w.t.Errorf("%d stories break an invariant (seed %d)", v.wrong, w.seed)
	}
}

// verdict is what was found so far.
type verdict struct {
	t        teller
	seed     int64
	pictures string

	mu    sync.Mutex
	wrong int
}

// teller is told what is wrong: a *testing.T.
type teller interface {
	Errorf(format string, args ...any)
}

func (v *verdict) judge(key string, s *story) {
	found := s.wrong()
	s.linear(&found, v.folder(), fmt.Sprintf("chaos-%d-%s", v.seed, key))
	if len(found) > 0 {
		v.convict(key, s, found)
	}
}

// folder is where the picture of a story goes; nowhere once enough were drawn.
func (v *verdict) folder() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.wrong >= shownMost {
		return ""
	}
	return v.pictures
}

// convict tells of a story that is wrong: of the first ones everything, of the others
// what is wrong about them.
func (v *verdict) convict(key string, s *story, found findings) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.wrong++; v.wrong <= shownMost {
		v.t.Errorf("seed %d, %s: %v\n%s", v.seed, key, found, s)
	} else {
		v.t.Errorf("seed %d, %s: %v", v.seed, key, found)
	}
}
