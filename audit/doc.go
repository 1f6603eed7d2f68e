// Package audit is the book of who changed what, and why, through the operators'
// pages: the dashboard and asynqmon.
//
// A change is entered before it is made. If that cannot be done the change is not
// made; so there is no change without an entry, as long as Redis keeps what it
// acknowledged. What became of it is entered afterwards, in an entry of its own
// that names the first. A process that dies in between leaves an entry whose
// outcome nobody recorded, and the page says so: the job's own trail then tells
// whether the change was made.
//
// The book keeps about the latest 10 000 entries, oldest out first. It holds no
// keys, no inputs and no results. It is kept with plain commands, outside the
// partitions of jobs, so it is not atomic with their verbs.
package audit
