package main

import (
	"errors"

	"onejob/client"
)

// Exit codes. Once released they keep their meaning; docs/cli.md lists them.
const (
	exitOK          = 0
	exitFailed      = 1  // what was asked for did not work
	exitUsage       = 2  // the command line, the configuration or the request is wrong
	exitJobFailed   = 3  // the job failed
	exitCancelled   = 4  // the job was cancelled
	exitNotEnded    = 5  // the wait ended before the job, which goes on
	exitUnknown     = 6  // whether it was done is not known
	exitConflict    = 7  // the key or the job does not allow it
	exitRefused     = 8  // the API key does not allow it
	exitNotFound    = 9  // no such job
	exitUnreachable = 10 // the server does not answer, or cannot serve now
)

// exitCodes says them in the words of the help texts.
const exitCodes = `Exit codes: 0 done, or the job succeeded · 1 it did not work · 2 wrong usage or
request · 3 the job failed · 4 the job was cancelled · 5 the wait ended before the
job, which goes on (--timeout, ^C) · 6 whether it was done is not known; a submit is
safely repeated with the same --key · 7 conflict: the key belongs to another input,
or the job does not allow it · 8 the API key is not good for it · 9 no such job · 10
the server does not answer.`

// exitOf are the exit codes of what a server refuses.
var exitOf = []struct {
	err  error
	code int
}{
	{client.ErrInvalid, exitUsage},
	{client.ErrKeyInvalid, exitUsage},
	{client.ErrKeyMissing, exitUsage},
	{client.ErrTooLarge, exitUsage},
	{client.ErrMediaType, exitUsage},
	{client.ErrRouteUnknown, exitUsage},
	{client.ErrConflict, exitConflict},
	{client.ErrKeyExpired, exitConflict},
	{client.ErrUnresolved, exitConflict},
	{client.ErrSettled, exitConflict},
	{client.ErrNotUnknown, exitConflict},
	{client.ErrFinal, exitConflict},
	{client.ErrVersion, exitConflict},
	{client.ErrUnauthorized, exitRefused},
	{client.ErrForbidden, exitRefused},
	{client.ErrNotFound, exitNotFound},
	{client.ErrUnavailable, exitUnreachable},
	{client.ErrRecordNewer, exitUnreachable}, // a newer process answers
	{client.ErrRateLimited, exitUnreachable},
	{client.ErrRecordNewer, exitUnreachable},
}

// exitCode is what the process ends with after err.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	if ended, ok := errors.AsType[*client.JobError](err); ok {
		if ended.Job.State == client.Cancelled {
			return exitCancelled
		}
		return exitJobFailed
	}
	if _, ok := errors.AsType[*client.NotEndedError](err); ok {
		return exitNotEnded
	}
	if _, ok := errors.AsType[*client.UnknownError](err); ok {
		return exitUnknown // whatever came instead of an answer
	}
	for _, known := range exitOf {
		if errors.Is(err, known.err) {
			return known.code
		}
	}
	if _, ok := errors.AsType[*client.UnreachableError](err); ok {
		return exitUnreachable
	}
	return exitFailed
}

// hint is what can be done about err; empty where it says so itself.
func hint(err error) string {
	if unknown, ok := errors.AsType[*client.UnknownError](err); ok && unknown.Key != "" {
		return "Run the same command with --key " + unknown.Key + ": there will be one job."
	}
	if open, ok := errors.AsType[*client.NotEndedError](err); ok {
		return "onejob jobs watch " + open.JobID + " waits again."
	}
	if problem, ok := errors.AsType[*client.Problem](err); ok {
		return problem.Hint
	}
	if _, ok := errors.AsType[*client.UnreachableError](err); ok {
		return "Is a server running there? --url or ONEJOB_URL says where it is."
	}
	return ""
}
