/* The record: what Redis holds of the job, what the world holds of its calls, and
 * what must be true of both.
 */

mtype = { starting, running, unknown, succeeded, failed, cancelled, discarded, queued }
mtype = { I2, I3, I4, I5, I6, I7, I8, I9, I10, STATE, DOOR, NEWS, RETRY, ONCE, TOLD, STUCK }

#define BODY 1
#define OTHER_BODY 2
#define ANSWERED 1        /* the bytes a provider answers with */
#define SAID_BY_PERSON 2  /* the bytes of a resolve */
#define OPERATOR 3        /* the number of the operator among the senders; workers are 1 and 2 */

/* HOLD names the rule that a failed assertion breaks. */
#define HOLD(rule, what) assert((what) || !rule)

/* The job. */
byte key_body;  /* fingerprint that holds the key, 0: the key is free */
byte key_job;   /* id of the job that holds it */
mtype job;      /* its state, 0: there is none */
byte version;
byte winner;    /* completed_by */
byte result;
byte last;      /* attempts there are */
byte start_by;  /* 0: whenever  1: still time  2: over */

/* The attempts, from 1 on. */
mtype attempt[4];
byte fence[4];
byte token[4];  /* whose claim it is, 0: nobody's who could still use it */
bool late[4];   /* it has a late_result */
mtype why[4];   /* reason of a failure */

/* What an operation that its sender may send again was answered, by sender. */
mtype answered[4];

/* The world. */
bool lapsed[4];     /* the lease is over */
byte creates[4];    /* calls that have left */
mtype provider[4];  /* what it has made of the call */

/* For the invariants alone. */
byte jobs;          /* that were made */
byte seen_version;
byte retried;       /* version whose ticket was the latest to open an attempt */

/* What a script answers. Not part of any state. */
hidden mtype answer;
hidden byte told;   /* the job id in the answer to a submit */

#define ANY(s) (attempt[1] == s || attempt[2] == s || attempt[3] == s)
#define OPEN(n) (attempt[n] == starting || attempt[n] == running || attempt[n] == unknown)
#define OPEN_BESIDE(n, m) (n != m && OPEN(m))
#define OTHERS_OPEN(n) (OPEN_BESIDE(n, 1) || OPEN_BESIDE(n, 2) || OPEN_BESIDE(n, 3))
#define ANY_OPEN (OPEN(1) || OPEN(2) || OPEN(3))
#define FINAL (job == succeeded || job == cancelled)
#define ENDED (FINAL || job == failed)
#define CALLED(n) (attempt[n] == running || attempt[n] == unknown)
#define AT_DOOR(n) (!CALLED(n) || (fence[n] == version && winner == 0))
#define WINNERS ((attempt[1] == succeeded) + (attempt[2] == succeeded) + (attempt[3] == succeeded))

/* check is what holds after every verb. */
inline check() {
  HOLD(I3, (job == succeeded) == (winner != 0));
  HOLD(I3, WINNERS == (winner != 0));
  HOLD(I3, winner == 0 || (attempt[winner] == succeeded && result != 0));
  HOLD(I7, jobs <= 1);
  HOLD(I9, version >= seen_version);
  seen_version = version;
  HOLD(I10, ENDED || ANY_OPEN);
  HOLD(I10, !ENDED || !ANY_OPEN);
  HOLD(STATE, (job == running) == ANY(running));
  HOLD(STATE, (job == queued) == (ANY(starting) && !ANY(running)));
  HOLD(STATE, (job == unknown) == (ANY(unknown) && !ANY(starting) && !ANY(running)));
  HOLD(DOOR, AT_DOOR(1) && AT_DOOR(2) && AT_DOOR(3));
  printf("= %e version %d winner %d: %e/%d/%d %e/%d/%d %e/%d/%d\n", job, version, winner,
    attempt[1], fence[1], late[1], attempt[2], fence[2], late[2], attempt[3], fence[3], late[3])
}
