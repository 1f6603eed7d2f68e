/* Who sends the verbs, and what happens around them. */

mtype = { working, done, busy, rejected }
mtype = { asking, holding, leaving, listening, reporting }
mtype = { open_next, cancel_job, resolve_attempt }

/* --- a caller and one POST of his ------------------------------------------- */

proctype Caller(byte id; byte body) {
  mtype first;
  bool over;
end:
  do
  :: d_step { first == 0 -> submit(id, body); check(); first = answer }
  :: d_step { first != 0 && !over -> submit(id, body); check(); over = true; HOLD(TOLD, answer == first) }
  :: d_step { first != 0 && !over -> over = true }
  od
}

/* --- a worker ---------------------------------------------------------------- */

byte held[3]; /* the attempt in the hands of each worker, 0: it is idle */

/* leave: the worker is through with its call, or has died. Nobody will use its
 * token again. */
inline leave(n, me) {
  printf("leave %d by %d\n", n, me);
  if :: token[n] == me -> token[n] = 0 :: else fi;
  answered[me] = 0; held[me] = 0; n = 0; phase = 0
}

/* deliver: a wake-up comes, the first or the tenth. Workers are alike, so the
 * second takes only what the first cannot. */
inline deliver(k) {
  d_step {
    phase == 0 && CLAIMABLE(k) && (me == 1 || held[1] != 0) ->
    claim(k, me);
    if
    :: answer == CLAIMED -> n = k; held[me] = k; phase = asking
    :: else
    fi
  }
}

/* end_call reports what the provider said; where nothing was sent, that. */
inline end_call(n, me) {
  if
  :: provider[n] == done -> finalize(n, ANSWERED, me)
  :: else -> fail(n, (creates[n] == 0 -> not_sent : refused), (provider[n] != rejected), me)
  fi
}

#ifndef NO_LEASE_CHECK
#define LEASE_HOLDS(n) (!lapsed[n])
#else
#define LEASE_HOLDS(n) true
#endif

inline send(n) {
  HOLD(I2, creates[n] == 0);
  HOLD(I2, attempt[n] != failed && attempt[n] != succeeded);
  creates[n]++;
  provider[n] = working;
  phase = listening;
  printf("send %d by %d\n", n, me)
}

proctype Worker(byte me) {
  byte n;
  mtype phase;
end:
  do
  :: deliver(1)
#if ATTEMPTS > 1
  :: deliver(2)
#endif
#if ATTEMPTS > 2
  :: deliver(3)
#endif
  /* The reply to the claim: it comes, or is lost and the claim sent again. */
  :: d_step { phase == asking -> phase = holding }
  :: d_step { phase == asking ->
       claim(n, me);
       HOLD(TOLD, answer == CLAIMED || attempt[n] != running);
       if :: answer == CLAIMED -> phase = holding :: else -> leave(n, me) fi }
  /* Looks at the lease and writes at once; or has slept too long. */
#ifndef MOMENT
  :: d_step { phase == holding && LEASE_HOLDS(n) -> send(n) }
#else
  :: d_step { phase == holding && LEASE_HOLDS(n) -> phase = leaving }
  :: d_step { phase == leaving -> send(n) }
#endif
  :: d_step { phase == holding -> end_call(n, me); phase = reporting }
  :: d_step { (phase == holding || phase == listening) && lapsed[n] && BEATABLE(n, me) -> beat(n, me) }
  /* Silence: the attempt becomes unknown, and is listened to all the same. */
  :: d_step { phase == listening && DOUBTABLE(n) && token[n] == me -> suspect(n, me) }
  :: d_step { phase == listening && provider[n] != working -> end_call(n, me); phase = reporting }
  /* The reply to the report is lost. */
  :: d_step { phase == reporting && answered[me] != 0 ->
       end_call(n, me);
       HOLD(TOLD, answer == answered[me]) }
  /* Is through; or dies; or the deadline has passed. */
  :: d_step { phase != 0 -> leave(n, me) }
  od
}

/* --- the operator ------------------------------------------------------------ */

inline decide(k) {
  if
  :: d_step { RESOLVABLE(k, succeeded) -> outcome = succeeded; n = k; resolve(n, outcome, on, OPERATOR) }
  :: d_step { RESOLVABLE(k, failed) -> outcome = failed; n = k; resolve(n, outcome, on, OPERATOR) }
  :: d_step { RESOLVABLE(k, failed) -> outcome = failed; n = k; on = true; resolve(n, outcome, on, OPERATOR) }
  :: d_step { RESOLVABLE(k, cancelled) -> outcome = cancelled; n = k; resolve(n, outcome, on, OPERATOR) }
  fi
}

#ifndef PATIENT
#define DECIDES (what == 0 && left > 0)
#else
#define DECIDES (what == 0 && left > 0 && last > 1)
#endif

proctype Operator() {
  mtype what;     /* the decision under way */
  byte n;
  mtype outcome;
  bool on;        /* then: continue */
  byte left = DECISIONS;
end:
  do
  :: atomic { DECIDES && RESOLVABLE(1, cancelled) -> decide(1); left--; what = resolve_attempt }
#if ATTEMPTS > 1
  :: atomic { DECIDES && RESOLVABLE(2, cancelled) -> decide(2); left--; what = resolve_attempt }
#endif
#if ATTEMPTS > 2
  :: atomic { DECIDES && RESOLVABLE(3, cancelled) -> decide(3); left--; what = resolve_attempt }
#endif
  :: d_step { DECIDES && job != 0 && CANCELLABLE -> cancel(OPERATOR); left--; what = cancel_job }
  :: d_step { DECIDES && job != 0 && OPENABLE(0) -> open(0, OPERATOR); left--; what = open_next }
  /* The reply is lost, and the command sent again. */
  :: d_step { what != 0 ->
       if
       :: what == resolve_attempt -> resolve(n, outcome, on, OPERATOR)
       :: what == cancel_job -> cancel(OPERATOR)
       :: what == open_next -> open(0, OPERATOR)
       fi;
       HOLD(TOLD, answer == answered[OPERATOR]) }
  :: d_step { what != 0 -> printf("leave 0 by %d\n", OPERATOR); what = 0; n = 0; outcome = 0; on = false; answered[OPERATOR] = 0 }
  od
}

/* --- what happens around an attempt ------------------------------------------ */

/* HEARD: whatever is reported once more of this attempt changes nothing. */
#define HEARD(n) ((winner == n && result == ANSWERED) || (late[n] && !OPEN(n)))

#ifndef NO_LAPSE_GUARD
#define LAPSED(n) (lapsed[n])
#else
#define LAPSED(n) true
#endif

proctype Around(byte n) {
end:
  do
  /* Time passes. */
  :: d_step { CALLED(n) && !lapsed[n] -> lapsed[n] = true; printf("lapse %d\n", n) }
  /* The sweeper. */
#ifndef NO_SWEEP
  :: d_step { DOUBTABLE(n) && LAPSED(n) -> suspect(n, 0) }
#endif
#ifdef START_BY
  :: d_step { attempt[n] == starting && start_by == 2 -> expire_start(n) }
#endif
#ifdef RACING
  :: d_step { RACEABLE(n) -> race(n) }
#endif
  /* The provider. */
  :: d_step { provider[n] == working -> provider[n] = done }
  :: d_step { provider[n] == working -> provider[n] = busy }
  :: d_step { provider[n] == working -> provider[n] = rejected }
  /* A callback, or a look-up: whatever the attempt's state is by now. */
  :: d_step { provider[n] == done && !HEARD(n) -> finalize(n, ANSWERED, 0) }
  :: d_step { (provider[n] == busy || provider[n] == rejected) && !HEARD(n) && !(attempt[n] == failed && why[n] == refused) ->
       fail(n, refused, provider[n] == busy, 0) }
#ifdef SETTLES
  /* settles_after, or a proof of absence: once no call can leave any more. */
  :: d_step { lapsed[n] && attempt[n] != running && !HEARD(n) && !(attempt[n] == failed && why[n] == settled) ->
       fail(n, settled, true, 0) }
#endif
  od
}

/* --- what happens around the job --------------------------------------------- */

/* A ticket carries the version its job failed at. It can be run at any time and
 * any number of times: the one of this failure, or one that was run before. The
 * store forgets operation ids in time, so it is the version that must hold. */
hidden byte ticket;
inline run_ticket(v) {
  ticket = v;
  open(ticket, 0);
  HOLD(RETRY, ticket != retried);
  retried = ticket
}

#define SILENT(n) (attempt[n] != unknown || provider[n] == working || provider[n] == 0)

proctype Job() {
end:
  do
  :: d_step { job == failed && OPENABLE(version) -> run_ticket(version) }
  :: d_step { retried != 0 && OPENABLE(retried) -> run_ticket(retried) }
#ifdef START_BY
  :: d_step { start_by == 1 -> start_by = 2; printf("start_by is over\n") }
#endif
  :: timeout -> HOLD(STUCK, job == 0 || ENDED || (job == unknown && SILENT(1) && SILENT(2) && SILENT(3))); break
  od
}
