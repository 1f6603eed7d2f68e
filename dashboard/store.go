package dashboard

import (
	"time"

	"onejob/jobs"
	"onejob/roster"
)

func (p *Pages) storeRoutes() []route {
	return []route{{"GET /store", p.storePage}}
}

// storeView is what the page Store shows.
type storeView struct {
	Durability durability
	Nodes      []storeNode
	Partitions []jobs.PartitionFacts
	Open       int64
	Ended      int64
	Due        int64
	Rewinds    int64
	Lag        time.Duration // the most of any partition
	Processes  []roster.Process
}

func (p *Pages) storePage(v *visit) error {
	ctx, cancel := v.ctx()
	defer cancel()
	processes, err := p.cfg.Processes(ctx)
	if err != nil {
		return err
	}
	partitions, err := p.cfg.Partitions(ctx)
	if err != nil {
		return err
	}
	view := storeView{Durability: durabilityOf(p.cfg.Durability, p.cfg.Embedded), Partitions: partitions, Processes: processes}
	for _, f := range partitions {
		view.Open, view.Ended, view.Due, view.Rewinds = view.Open+f.Open, view.Ended+f.Ended, view.Due+f.Due, view.Rewinds+f.Rewinds
		view.Lag = max(view.Lag, f.Lag)
	}
	if view.Nodes, err = storeNodes(ctx, p.cfg.Redis); err != nil {
		return err
	}
	return v.page("store", page{Title: "Store", Nav: "Store", Live: "beat", Data: view})
}

// durability is a class of the store and what it means.
type durability struct {
	Class   string
	Badge   badge
	Meaning string
}

func durabilityOf(class string, embedded bool) durability {
	d := durability{Class: class}
	switch {
	case embedded:
		d.Badge, d.Meaning = badge{"memory", "bad"}, "The store is inside this process and memory is all it has: everything is gone when it stops. For trying out."
	case class == "fsync":
		d.Badge, d.Meaning = badge{"fsync", "good"}, "Every acknowledged write is on disk before it is acknowledged (appendonly yes, appendfsync always). A crash of the server loses nothing."
	case class == "everysec":
		d.Badge, d.Meaning = badge{"everysec", "warn"}, "Writes reach the disk within about a second. A crash of the machine can lose the last second of acknowledged jobs; set appendfsync always to lose none."
	default:
		d.Badge, d.Meaning = badge{class, "bad"}, "The server keeps jobs in memory alone: a crash loses all of them. Set appendonly yes and appendfsync always."
	}
	return d
}

// A sweeper looks every second; these are when its lag is remarkable, and when it is
// a fault.
const (
	lagRemarkable = 5 * time.Second
	lagFault      = 30 * time.Second
)

// Sweeping is how the sweepers keep up, by the oldest entry that is overdue.
func (v storeView) Sweeping() badge {
	workers := 0
	for _, process := range v.Processes {
		if process.Sweeper != nil {
			workers++
		}
	}
	switch {
	case workers == 0:
		return badge{"no sweeper", "bad"}
	case v.Lag >= lagFault:
		return badge{"behind", "bad"}
	case v.Lag >= lagRemarkable:
		return badge{"late", "warn"}
	}
	return badge{"keeps up", "good"}
}

// Late tells whether a partition has an entry that is remarkably overdue.
func (storeView) Late(f jobs.PartitionFacts) bool { return f.Lag >= lagRemarkable }

// SweepLag is how far a process's sweeper was behind at its latest sweep.
func (storeView) SweepLag(s *roster.Sweeper) time.Duration {
	return time.Duration(s.LagMS) * time.Millisecond
}
