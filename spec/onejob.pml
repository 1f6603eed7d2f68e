/* A model of one job, for spin: the rules of lua/, and around them everything
 * that goes wrong. `make spec` searches it to the end.
 *
 * The record is what Redis holds. A verb is one d_step, for a script runs alone.
 * Between two verbs anything may happen: a worker dies, sleeps through its lease
 * and wakes up, a reply is lost and the client library sends the command again,
 * the queue delivers a wake-up any number of times, a provider answers late or
 * never, an operator decides. Nothing is fair: whatever may happen may also never
 * happen. So what is shown is safety: nothing bad is done. That something good is
 * done in the end is shown only as far as STUCK says.
 *
 * record.pml  the record, and what holds of it after every verb
 * verbs.pml   the verbs, one for each script that changes a state
 * actors.pml  who sends them
 *
 * What holds (the names are those of docs/guarantees.md where there is one):
 *   I2     one create an attempt; the call of an attempt that was declared failed,
 *          or whose end a person declared, does not leave afterwards
 *   I3     succeeded means exactly one winner; the slot is written once
 *   I4     no attempt opens while one is open; racing, while none is starting or running
 *   I5     terminal attempts and final jobs never change
 *   I6     an outcome that has no say any more is recorded, and nothing else
 *   I7     one job a key, and everybody is told that one
 *   I8     another body under the key is never told a job, and writes nothing
 *   I9     the version never falls
 *   I10    a job that has not ended has an open attempt; one that has ended has none
 *   STATE  the job's state says what its attempts do
 *   DOOR   an attempt that is running or unknown is entitled to the slot: this is why
 *          of the three guards on the door the state alone would do
 *   NEWS   the winner's own bytes, heard again, are not a late result
 *   RETRY  one failure is retried by its ticket once
 *   ONCE   one operation is done once
 *   TOLD   whoever sends a command again is told what the first one did
 *   STUCK  when nobody has anything left to do, the job has ended, or is unknown
 *          because a provider is silent and no person has decided
 *
 * What is left out, because no invariant above speaks of it: accept, hold, look,
 * note, read, take and mend, which change no state; times to live (I8 after the
 * record has gone), indexes and reminders (I11), a store that went back in time.
 * Waiting (back-off, patience, wake-ups that come late) is in it as the freedom to
 * do anything later. The lease of a worker is over no later than the store's, which
 * package handlers sees to; the moment between looking at it and the bytes leaving
 * is the one that docs/guarantees.md does not promise: -DMOMENT puts it in.
 *
 * Bounds:
 *   ATTEMPTS   attempts a job can have, at most 3     PLANNED  the route's max_attempts
 *   DECISIONS  decisions of the operator              CALLERS  1 to 3 send requests;
 *                                                     0: the job is there already
 * Options: RACING, SETTLES (the provider's silence is declared to end), START_BY;
 * PATIENT (the operator lets the first attempt pass) is for random walks, which else
 * seldom get far.
 *
 * Every rule of the scripts can be taken out: -DNO_<RULE>, beside the rule. mutants
 * in spec_test.go lists what then breaks, and which rules another one covers.
 */
#ifndef ATTEMPTS
#define ATTEMPTS 2
#endif
#ifndef PLANNED
#define PLANNED 2
#endif
#ifndef DECISIONS
#define DECISIONS 1
#endif
#ifndef CALLERS
#define CALLERS 0
#endif

#include "record.pml"
#include "verbs.pml"
#include "actors.pml"

init {
#if CALLERS == 0
  d_step { submit(1, BODY); check() };
#endif
  atomic {
#if CALLERS > 0
    run Caller(1, BODY);
#endif
#if CALLERS > 1
    run Caller(2, BODY);
#endif
#if CALLERS > 2
    run Caller(3, OTHER_BODY);
#endif
    run Worker(1);
    run Worker(2);
    run Operator();
    run Around(1);
#if ATTEMPTS > 1
    run Around(2);
#endif
#if ATTEMPTS > 2
    run Around(3);
#endif
    run Job()
  }
}
