// Package client submits jobs to a onejob server and waits for them.
//
//	c, err := client.New("http://127.0.0.1:8080", os.Getenv("ONEJOB_API_KEY"))
//	…
//	job, err := c.Do(ctx, client.Request{Route: "print", Input: page})
//
// # What it guarantees
//
// One intent has one key. A Request without a Key is given one, and every try the
// client makes for it carries that key and the same bytes: however often the
// connection breaks, the answer is cut off or the server is away, there is at most
// one job. The job that is returned, and every error after which a job may exist
// (UnknownError), carries the key, so that the next call can go on where this one
// ended: Submit again with that key, or Wait for the job.
//
// No answer is never taken for a no. Where the client cannot know whether the
// server did what was asked, it says so with an UnknownError and does not guess.
//
// The API key is sent to the server's own address only, and is in no error and no
// printed form of a Client. Redirects are not followed.
//
// # What it does not promise
//
// A key that was made for a Request is not kept anywhere but in what is returned: a
// program that may be killed and must not lose its place makes a key of its own and
// writes it down before it submits. Two Requests without keys are two intents, be
// they alike to the letter.
//
// Decisions on a job (Cancel, Retry, Resolve and the like) carry no key and are sent
// once: see Decision.
//
// # Compatibility
//
// Within a major version, names and meanings stay. Fields are added to the structs,
// so use field names in literals; states, reasons and problems are added, so expect
// ones you do not know. What a newer server adds to its answers is ignored. The
// package needs nothing but the standard library.
package client
