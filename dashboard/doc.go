// Package dashboard is what operators look at in a browser.
//
// Nothing here has authority over a job: asynqmon shows and moves wake-ups and
// tickets, and what may be called because of that is decided by the scripts, as
// always (design §4).
package dashboard
