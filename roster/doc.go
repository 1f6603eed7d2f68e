// Package roster tells which processes of onejob are there, what they work for
// and how that goes, for the operator's pages and for every process's own view of
// the others.
//
// Each process writes a small record of itself every few seconds. It runs out by
// itself, so that a process that was killed is off the list within half a minute,
// and is removed when the process stops in order. The roster informs and nothing more: no rule
// of the state machine reads it, a record that cannot be written holds up nobody,
// and what is in it is as true as its writer's clock.
//
// Records hold names from the configuration, numbers and reasons. They never hold
// inputs, results, keys, or a provider's own words.
package roster
