// Command bench measures onejob against its floors: the same work done with
// less, in the same run, on the same machine. What it says is ratios; times are
// of the machine it ran on.
//
//	go run ./e2e/bench -rounds 5 -duration 3s -json bench.json
//
// Everything runs on the loopback address in processes of its own: a
// redis-server with appendfsync always, the server measured, and this one, which
// makes the load.
package main
