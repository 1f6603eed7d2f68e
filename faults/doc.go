// Package faults names the points between two steps of a job's way where a
// process can die, stop or fail. In ordinary builds a point is nothing; built
// with the tag faults, ONEJOB_FAULTS makes one of them happen:
//
//	ONEJOB_FAULTS=claimed=kill     end the process at once, as kill -9 does
//	ONEJOB_FAULTS=claimed=pause    stop the process until it is continued
//	ONEJOB_FAULTS=claimed=error    fail there, as if the reply had been lost
//
// Several are separated by commas. Each happens once, at the first time the
// process gets there.
package faults

// Points, in the order a job meets them.
const (
	Submitted = "submitted" // the job is recorded; nothing is queued yet
	Enqueued  = "enqueued"  // the wake-up is queued
	Delivered = "delivered" // a worker was given the wake-up; nothing is claimed yet
	Claimed   = "claimed"   // the attempt is claimed; its call has not begun
	Leaving   = "leaving"   // the first byte is about to leave
	Answered  = "answered"  // the call has ended; nothing is reported yet
	Reported  = "reported"  // the outcome is recorded; its reply not seen yet
	Done      = "done"      // everything is done; the queue has not been told
)

// Points lists them all.
var Points = []string{Submitted, Enqueued, Delivered, Claimed, Leaving, Answered, Reported, Done}
