// Command bench measures onejob against its floors: the same work done with
// less, in the same run, on the same machine. What it says is ratios; times are
// of the machine it ran on. What is measured how, and the latest figures, are in
// docs/performance.md, which -write keeps.
//
//	go run ./e2e/bench -write                              # make bench
//	go run ./e2e/bench -guard e2e/bench/guard.json         # make guard
//	go run ./e2e/bench -rounds 3 -only setnx,submit -json bench.json
//
// Everything runs on the loopback address in processes of its own: a
// redis-server with appendfsync always, the server measured, and this one, which
// makes the load. It needs Linux, for the clocks of other processes.
package main
