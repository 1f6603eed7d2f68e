//go:build !faults

package faults

// Point does nothing in this build.
func Point(string) error { return nil }
