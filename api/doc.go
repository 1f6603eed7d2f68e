// Package api is onejob's HTTP door (design §7).
//
// It guarantees that a caller who was answered 202 has a job, that the same
// key with the same intent leads to the same job for ever and with another
// intent to a conflict, and that every error is an RFC 9457 problem. It decides
// nothing about a job: every verb goes to the Store, whose scripts are the
// judge, and every answer shows what the Store said.
//
// What it does not promise: that an answer arrives. A client that saw no answer
// sends the same request again with the same key and is told what became of it.
package api
