package recovery

import (
	"time"

	"onejob/providers"
)

// Observer is told what happens, for those who count. Its functions must be quick
// and safe for concurrent use; any of them may be nil.
type Observer struct {
	// Swept is told of every sweep.
	Swept func(Swept)
	// Suspected is told of every attempt that a sweep made unknown, because its
	// lease or deadline had passed.
	Suspected func(provider string)
	// Asked is told of every question to a provider about an unknown attempt, and
	// what its answer is worth: see Said.
	Asked func(provider, said string)
	// Settled is told of every attempt that ended by what was learnt: by a look-up,
	// by a provider's callback, or because no answer can come any more.
	Settled func(Settled)
}

// Swept is a sweep that is over.
type Swept struct {
	At   time.Time // of its end
	Took time.Duration
	// Lag is by how much the oldest entry it found was overdue; 0 when none was.
	Lag time.Duration
	// Taken counts the entries it took the turn for, by kind.
	Taken map[string]int
	// Err is what could not be read; the rest was dealt with.
	Err error
}

// Settled is an attempt that ended without its worker.
type Settled struct {
	Provider string
	Outcome  providers.Kind // Succeeded or Failed
	Reason   string
	Late     string // why it had no say any more; empty: it counted
}

// What an answer about an unknown attempt is worth, for Observer.Asked.
const (
	SaidSucceeded = "succeeded" // done, and here is the result
	SaidFailed    = "failed"    // it failed, or never arrived and the provider proves it
	SaidRunning   = "running"   // it is at it
	SaidAbsent    = "absent"    // it does not know the attempt, which proves nothing
	SaidNothing   = "nothing"   // it did not answer, or not so that it could be understood
)

// said is the worth of an outcome.
func said(o providers.Outcome) string {
	switch o.Kind {
	case providers.Succeeded:
		return SaidSucceeded
	case providers.Failed:
		return SaidFailed
	case providers.Accepted:
		return SaidRunning
	}
	if o.Reason == providers.ReasonLookupAbsent {
		return SaidAbsent
	}
	return SaidNothing
}

func (o Observer) withDefaults() Observer {
	if o.Swept == nil {
		o.Swept = func(Swept) {}
	}
	if o.Suspected == nil {
		o.Suspected = func(string) {}
	}
	if o.Asked == nil {
		o.Asked = func(string, string) {}
	}
	if o.Settled == nil {
		o.Settled = func(Settled) {}
	}
	return o
}
