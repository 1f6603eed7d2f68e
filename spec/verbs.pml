/* The verbs: each is the script of the same name in lua/, as far as it changes a
 * state. A sender that may send its command again (the client library does, when
 * a reply is lost) gives its own number; 0 is one who does not.
 */

mtype = { CREATED, EXISTS, CONFLICT, CLAIMED, NOT_STARTING, START_EXPIRED, SUSPECTED, WON, LATE, NO,
  OPENED, RESOLVED, CANCELLED, REFUSED }
mtype = { refused, not_sent, settled, resolved_failed }

/* --- record.lua and settle.lua: what all verbs are made of ------------------ */

inline move_attempt(n, to) {
  HOLD(I5, OPEN(n));
  attempt[n] = to
}

/* raise shuts out whatever still runs under the old version. */
inline raise() { version++ }

/* remember and recall: the answer to an operation, by its id. A sender has one
 * under way at a time, so here its number is the id. */
#ifdef NO_OPERATION_IDS
#define RECALLED(me) false
#else
#define RECALLED(me) (answered[me] != 0)
#endif
inline remember(me, what) {
  HOLD(ONCE, answered[me] == 0);
  answer = what;
  if :: me != 0 -> answered[me] = what :: else fi
}
inline recall(me) { answer = answered[me] }

inline move_job(to) {
  HOLD(I5, !FINAL || job == to);
  job = to
}

/* settle: the job's state follows from its attempts. */
hidden mtype follows;
inline settle() {
  follows = failed;
#ifndef NO_SETTLE_UNKNOWN
  if :: ANY(unknown) -> follows = unknown :: else fi;
#endif
#ifndef NO_SETTLE_STARTING
  if :: ANY(starting) -> follows = queued :: else fi;
#endif
#ifndef NO_SETTLE_RUNNING
  if :: ANY(running) -> follows = running :: else fi;
#endif
#ifndef NO_SETTLE_FINAL
  if :: FINAL -> follows = job :: else fi;
#endif
#ifndef NO_SETTLE
  move_job(follows)
#endif
}

/* settle_at makes the job final, which closes what is still open: cancelled if it
 * was never claimed or the job was cancelled, else discarded. */
inline close_one(n, to) {
  if
  :: OPEN(n) && (attempt[n] == starting || to == cancelled) -> move_attempt(n, cancelled)
  :: CALLED(n) && to != cancelled -> move_attempt(n, discarded)
  :: !OPEN(n)
  fi
}
inline settle_at(to) {
  move_job(to);
#ifndef NO_SETTLE_CLOSE
  close_one(1, to); close_one(2, to); close_one(3, to)
#endif
}

/* --- submit ------------------------------------------------------------------ */

inline submit(id, body) {
  told = 0;
  if
#ifndef NO_RESERVATION /* SET key NX */
  :: key_body == 0 ->
#else
  :: key_job != id ->
#endif
     key_body = body; key_job = id;
     jobs++; version = 1; last = 1; attempt[1] = starting; job = queued;
#ifdef START_BY
     start_by = 1;
#endif
     answer = CREATED; told = id
  :: else ->
     if
#ifndef NO_FINGERPRINT
     :: key_body != body -> answer = CONFLICT
#else
     :: false
#endif
     :: else ->
        told = key_job;
        if
#ifndef NO_SUBMIT_ID /* this very command, sent again */
        :: key_job == id -> answer = CREATED
#else
        :: false
#endif
        :: else -> answer = EXISTS
        fi
     fi
  fi;
  HOLD(I7, told == 0 || told == key_job);
  HOLD(I8, told == 0 || body == key_body);
  printf("submit %d of %d: %e\n", id, body, answer)
}

/* --- claim, beat, suspect, expire_start -------------------------------------- */

#ifndef NO_CLAIM_GUARD
#define CLAIMABLE(n) (attempt[n] == starting && !ENDED)
#else
#define CLAIMABLE(n) (OPEN(n) && !ENDED)
#endif
#ifndef NO_CLAIM_TOKEN /* this very claim, sent again */
#define CLAIMED_BY(n, me) (attempt[n] == running && token[n] == me)
#else
#define CLAIMED_BY(n, me) false
#endif

/* start_over closes an attempt that was not started in time. */
inline start_over(n) {
  move_attempt(n, cancelled);
  settle();
  answer = START_EXPIRED
}

inline claim(n, me) {
  if
  :: CLAIMED_BY(n, me) -> answer = CLAIMED
  :: else ->
     if
     :: !CLAIMABLE(n) -> answer = NOT_STARTING
     :: else ->
        if
        :: start_by == 2 -> start_over(n)
        :: else ->
           move_attempt(n, running);
           fence[n] = version; token[n] = me; lapsed[n] = false;
           settle();
           answer = CLAIMED
        fi
     fi
  fi;
  printf("claim %d by %d: %e\n", n, me, answer);
  check()
}

/* A lease that has lapsed is good again if its worker beats before anybody
 * suspects it. */
#define BEATABLE(n, me) (attempt[n] == running && token[n] == me)
inline beat(n, me) {
  lapsed[n] = false;
  printf("beat %d by %d\n", n, me)
}

#ifndef NO_SUSPECT_GUARD
#define DOUBTABLE(n) (attempt[n] == running)
#else
#define DOUBTABLE(n) (token[n] != 0)
#endif
inline suspect(n, me) {
  move_attempt(n, unknown);
  settle();
  answer = SUSPECTED;
  printf("suspect %d by %d: %e\n", n, me, answer);
  check()
}

inline expire_start(n) {
  start_over(n);
  printf("expire_start %d: %e\n", n, answer);
  check()
}

/* --- next.lua: the attempt that follows -------------------------------------- */

inline add_attempt(racing) {
  HOLD(I4, !ANY(starting) && !ANY(running) && (racing || !ANY(unknown)));
  last++;
  attempt[last] = starting;
  if
#ifndef NO_RISE /* reopening raises the version */
  :: job == failed -> raise()
#endif
  :: else
  fi;
  settle()
}

inline follow(retryable) {
  if
  :: retryable && last < PLANNED -> add_attempt(false)
  :: else -> settle()
  fi
}

/* --- outcome.lua, finalize, fail --------------------------------------------- */

/* Three guards on one door. */
#ifndef NO_FENCE
#define FENCE_FITS(n) (fence[n] == version)
#else
#define FENCE_FITS(n) true
#endif
#ifndef NO_SLOT
#define SLOT_EMPTY (winner == 0)
#else
#define SLOT_EMPTY true
#endif
#ifndef NO_STATE_GUARD
#define STILL_CALLED(n) CALLED(n)
#else
#define STILL_CALLED(n) true
#endif
#define ENTITLED(n) (FENCE_FITS(n) && SLOT_EMPTY && STILL_CALLED(n))

inline discard(n, me) {
#ifndef NO_LATE_RECORD
  late[n] = true;
#endif
  if
  :: OPEN(n) -> move_attempt(n, discarded); settle()
  :: else
  fi;
  remember(me, LATE);
  HOLD(I6, late[n])
}

inline win(n, bytes, me) {
  HOLD(I3, winner == 0);
  result = bytes; winner = n;
  raise();
  move_attempt(n, succeeded);
  settle_at(succeeded);
  remember(me, WON)
}

#ifndef NO_NEWS_RULE
#define NO_NEWS(n, bytes) (winner == n && result == bytes)
#else
#define NO_NEWS(n, bytes) false
#endif

inline finalize(n, bytes, me) {
  if
  :: RECALLED(me) -> recall(me)
  :: else ->
     if
     :: NO_NEWS(n, bytes) -> answer = WON
     :: else ->
        if
        :: ENTITLED(n) -> win(n, bytes, me)
        :: else ->
           HOLD(NEWS, !(winner == n && result == bytes));
           discard(n, me)
        fi
     fi
  fi;
  printf("finalize %d by %d: %e\n", n, me, answer);
  check()
}

inline fail(n, reason, retryable, me) {
  if
  :: RECALLED(me) -> recall(me)
  :: else ->
     if
     :: attempt[n] == failed && why[n] == reason -> answer = NO
     :: else ->
        if
        :: ENTITLED(n) ->
           move_attempt(n, failed);
           why[n] = reason;
           if
#ifndef NO_WAITING /* nothing is planned while another attempt is open */
           :: OTHERS_OPEN(n) -> settle()
#endif
           :: else -> follow(retryable)
           fi;
           remember(me, NO)
        :: else -> discard(n, me)
        fi
     fi
  fi;
  printf("fail %d by %d (%e, retryable %d): %e\n", n, me, reason, retryable, answer);
  check()
}

/* --- open, race, resolve, cancel --------------------------------------------- */

#ifndef NO_OPEN_GUARD
#define NOBODY_OPEN (!ANY_OPEN)
#else
#define NOBODY_OPEN true
#endif
#ifndef NO_EXPECTED_VERSION
#define EXPECTED(v) (v == 0 || v == version)
#else
#define EXPECTED(v) true
#endif
#define OPENABLE(v) (EXPECTED(v) && !FINAL && NOBODY_OPEN && last < ATTEMPTS)

inline open(expected, me) {
  if
  :: RECALLED(me) -> recall(me)
  :: else ->
     if
     :: !OPENABLE(expected) -> answer = REFUSED
     :: else ->
        start_by = 0;
        add_attempt(false);
        remember(me, OPENED)
     fi
  fi;
  printf("open by %d (expecting %d): %e\n", me, expected, answer);
  check()
}

/* max_attempts holds here, too. */
#ifndef NO_RACE_GUARD
#define RACEABLE(n) (!ENDED && n == last && attempt[n] == unknown && !ANY(starting) && !ANY(running) && last < PLANNED)
#else
#define RACEABLE(n) (!ENDED && ANY(unknown) && last < PLANNED)
#endif
inline race(n) {
  add_attempt(true);
  printf("race %d\n", n);
  check()
}

#ifndef NO_RESOLVE_GUARD
#define RESOLVABLE(n, outcome) (attempt[n] == unknown || (outcome == cancelled && OPEN(n)))
#else
#define RESOLVABLE(n, outcome) (attempt[n] != 0 && !FINAL)
#endif

inline resolve(n, outcome, on, me) {
  if
  :: RECALLED(me) -> recall(me)
  :: else ->
     if
     :: !RESOLVABLE(n, outcome) -> answer = REFUSED
     :: else ->
        if
        :: outcome == succeeded ->
           if
           :: ENTITLED(n) -> win(n, SAID_BY_PERSON, me)
           :: else -> discard(n, me)
           fi
        :: else ->
           if
#ifndef NO_SURVIVOR /* a raced survivor keeps its fence */
           :: OTHERS_OPEN(n)
#endif
           :: else -> raise()
           fi;
           move_attempt(n, outcome);
           if :: outcome == failed -> why[n] = resolved_failed :: else fi;
           if
           :: OTHERS_OPEN(n) -> settle()
           :: else -> follow(on)
           fi;
           remember(me, RESOLVED)
        fi
     fi
  fi;
  printf("resolve %d as %e (continue %d) by %d: %e\n", n, outcome, on, me, answer);
  check()
}

#ifndef NO_CANCEL_GUARD
#define CANCELLABLE (!ENDED)
#else
#define CANCELLABLE true
#endif
inline cancel(me) {
  if
  :: RECALLED(me) -> recall(me)
  :: else ->
     if
     :: !CANCELLABLE -> answer = REFUSED
     :: else ->
        raise();
        settle_at(cancelled);
        remember(me, CANCELLED)
     fi
  fi;
  printf("cancel by %d: %e\n", me, answer);
  check()
}
