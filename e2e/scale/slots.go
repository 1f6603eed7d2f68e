package main

import (
	"math"
	"strconv"

	"onejob/jobs"
)

// slot is the hash slot of a hash tag: CRC16 (XMODEM) mod 16384, as in the Redis
// Cluster specification, appendix A.
func slot(tag string) int {
	crc := uint16(0)
	for _, c := range []byte(tag) {
		crc ^= uint16(c) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % slots
}

// nodeOf is the master of a tag when n of them share the slots in equal ranges.
func nodeOf(tag string, n int) int { return slot(tag) * n / slots }

// largestShare is the share of all jobs that the busiest of n masters has: partitions
// are 64 tags, and they do not fall evenly.
func largestShare(n int) float64 {
	counts := make([]int, n)
	most := 0
	for p := range jobs.Partitions {
		at := nodeOf(strconv.Itoa(p), n)
		counts[at]++
		most = max(most, counts[at])
	}
	return float64(most) / jobs.Partitions
}

// placedShare is that share when the slots of the 64 tags are given to the masters by
// hand, as evenly as they go.
func placedShare(n int) float64 { return math.Ceil(jobs.Partitions/float64(n)) / jobs.Partitions }

// queueNames are names of providers whose queues lie on n masters, one on each.
func queueNames(n int) []string {
	names, found := make([]string, n), 0
	for i := 0; found < n; i++ {
		name := "press-" + strconv.Itoa(i)
		if at := nodeOf(name, n); names[at] == "" {
			names[at] = name
			found++
		}
	}
	return names
}
