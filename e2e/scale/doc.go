// Command scale says what saturates first when onejob grows, and when.
//
//	go run ./e2e/scale -measure                                # what this machine can tell, into measured.json
//	go run ./e2e/scale -bench bench.json -write docs/scaling.md # the tables of the document, made anew
//
// It measures what a job costs each part of a deployment, on one Redis and on a Cluster
// of three masters; the costs of an API and of a single Redis it takes from a run of
// e2e/bench. A model of queues (model.go) and a simulation of events (simulate.go) say
// what follows from them, here, where it can be checked, and at sizes that two cores
// cannot show.
package main
