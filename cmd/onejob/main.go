// onejob puts one durable job per intent in front of slow, costly, flaky
// providers.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
