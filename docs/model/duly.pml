/*
 * The protocol of duly, for Spin: windows, leases, fences, the step log and the outbox.
 *
 * Instances fire windows, claim runs, record a step, settle, and deliver what a settle has put into the outbox. Each
 * atomic block is one transaction of the store. Between any two of them an instance may die (its memory is gone, its
 * session is not), stand still for as long as it likes (others declare its session dead and take its runs, and it goes
 * on with what it believes), or not hear that its commit succeeded (it repeats the call). Nothing here knows a time: a
 * lease may end at any moment, so what holds here holds for every clock.
 *
 * Shown, for every order of events (scripts/model):
 *   a window has at most one run, and a cursor never passes a window without a run        (no double, no miss)
 *   every write that is accepted is one of the newest attempt                            (no zombie)
 *   a step has one recorded result, and a run ends with the result that was recorded     (steps)
 *   a run ends once; an event is published only if its run has ended, and is put aside
 *   as sent only if it was published                                                     (outbox)
 *   whatever happened, everything comes to its end                                       (no invalid end state)
 *
 * Mutants, each of which must be caught: NO_IDENTITY (a second row of a window is not refused), TWO_TRANSACTIONS (the
 * cursor moves in a transaction of its own), NO_FENCE (a write asks only whether the run is running), REVIVED (a
 * session that was declared dead goes on claiming), STEP_OVERWRITES (the last record of a step wins), SENT_FIRST (the
 * outbox is marked before the broker has confirmed), TOLD_EARLY (the event is published before the commit).
 */

#ifndef INSTANCES
#define INSTANCES 2
#endif
#ifndef WINDOWS
#define WINDOWS 2
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#define SESSIONS (INSTANCES + 2 * FAULTS + 1)
#define NOBODY 255

mtype = { absent, ready, running, ended };

/* The store. */
byte cursor;                     /* the next window to fire */
byte rows[WINDOWS];              /* runs of each window */
mtype state[WINDOWS] = absent;
byte fence[WINDOWS];             /* grows with every claim */
byte owner[WINDOWS] = NOBODY;    /* the session that holds the run */
byte recorded[WINDOWS];          /* the step's result: the fence of whoever recorded it */
byte result[WINDOWS];            /* what the run ended with */
byte settled[WINDOWS];
bool waiting[WINDOWS];           /* the outbox: an event that was not sent yet */
byte out_fence[WINDOWS];
byte out_owner[WINDOWS] = NOBODY;
bool dead[SESSIONS];             /* sessions that were declared dead, for good */
byte sessions;

/* The world outside. */
byte told[WINDOWS];              /* the step's result that a body went on with */
bool received[WINDOWS];          /* the broker has the event */
bool abandoned[SESSIONS];        /* whoever had the session has died */
byte faults;
byte living = INSTANCES;


inline fail_here() {
  if
  :: faults < FAULTS -> faults++; abandoned[mine] = true; goto reborn
  :: true
  fi
}

inline insert_run(w) {
#ifdef NO_IDENTITY
  rows[w]++; state[w] = ready;
#else
  if
  :: rows[w] == 0 -> rows[w]++; state[w] = ready
  :: else
  fi;
#endif
  assert(rows[w] <= 1)
}

#ifdef NO_FENCE
#define HELD(w, f) (state[w] == running)
#define OUT_HELD(w, f) (waiting[w])
#else
#define HELD(w, f) (state[w] == running && fence[w] == f && owner[w] == mine)
#define OUT_HELD(w, f) (waiting[w] && out_fence[w] == f && out_owner[w] == mine)
#endif

#ifdef REVIVED
#define MAY_CLAIM true
#else
#define MAY_CLAIM (!dead[mine])
#endif

inline pick(w, wanted) {
  w = 0;
  do
  :: w < WINDOWS && !(wanted) -> w++
  :: else -> break
  od
}

proctype instance() {
  byte mine = 0, planned = 0, w = 0, f = 0, seen = 0;

reborn:
  atomic { mine = sessions; sessions++ };

again:
  atomic { planned = 0; w = 0; f = 0; seen = 0 };
  do
  :: atomic { cursor < WINDOWS -> planned = cursor; fail_here() };   /* a look: others may move it before we write */
#ifdef TWO_TRANSACTIONS
     atomic { if :: cursor == planned -> cursor++ :: else -> goto again fi; fail_here() };
     atomic { insert_run(planned); fail_here(); goto again }
#else
     atomic {
       insert_run(planned);
       if :: cursor < planned + 1 -> cursor = planned + 1 :: else fi;
       fail_here();
       goto again
     }
#endif

  :: atomic {
       MAY_CLAIM && (state[0] == ready || state[WINDOWS - 1] == ready) ->
       pick(w, state[w] == ready);
       assert(!dead[mine]);
       state[w] = running; fence[w]++; owner[w] = mine; f = fence[w];
       fail_here()
     };
     atomic {                        /* record the step: whoever comes later goes on with what is recorded */
       if
       :: HELD(w, f) ->
          assert(fence[w] == f);
#ifdef STEP_OVERWRITES
          recorded[w] = f;
#else
          if :: recorded[w] == 0 -> recorded[w] = f; told[w] = f :: else fi;
#endif
          seen = recorded[w];
          assert(told[w] == 0 || told[w] == seen);
          told[w] = seen
       :: else -> goto lost
       fi;
       fail_here()
     };
#ifdef TOLD_EARLY
     atomic { received[w] = true; fail_here() };
#endif
settle:
     atomic {
       if
       :: HELD(w, f) ->
          assert(fence[w] == f && recorded[w] == seen);
          state[w] = ended; settled[w]++; result[w] = seen; waiting[w] = true;
          assert(settled[w] == 1)
       :: else ->
          if
          :: state[w] == ended && fence[w] == f && owner[w] == mine   /* ours: the answer was lost, not the write */
          :: else -> goto lost
          fi
       fi;
       if
       :: faults < FAULTS -> faults++; goto settle
       :: true
       fi;
       fail_here();
       goto again
     }

  :: atomic {
       MAY_CLAIM && ((waiting[0] && out_owner[0] == NOBODY) || (waiting[WINDOWS - 1] && out_owner[WINDOWS - 1] == NOBODY)) ->
       pick(w, waiting[w] && out_owner[w] == NOBODY);
       assert(!dead[mine]);
       out_fence[w]++; out_owner[w] = mine; f = out_fence[w];
       fail_here()
     };
#ifdef SENT_FIRST
     atomic { if :: OUT_HELD(w, f) -> waiting[w] = false :: else -> goto lost fi; fail_here() };
     atomic { received[w] = true; fail_here(); goto again }
#else
     atomic { received[w] = true; assert(settled[w] == 1); fail_here() };
     atomic {
       if
       :: OUT_HELD(w, f) -> assert(out_fence[w] == f && received[w]); waiting[w] = false
       :: else -> goto lost
       fi;
       fail_here();
       goto again
     }
#endif

  :: dead[mine] -> goto lost

  :: atomic {
       cursor == WINDOWS && state[0] == ended && state[WINDOWS - 1] == ended && !waiting[0] && !waiting[WINDOWS - 1] ->
       goto over
     }
  od;

lost:                                /* refused, or told so: whatever it held is another's; it begins anew */
  atomic {
    if
    :: dead[mine] -> goto reborn
    :: else -> goto again
    fi
  };

over:
  living--
}

/* The store's clock, and whoever recovers: a session may be declared dead at any time. */
proctype recovery() {
  byte s = 0, w = 0;
  do
  :: living == 0 -> break
  :: atomic {
       living > 0 ->
       s = 0;
       do
       :: s < sessions && (dead[s] || !(abandoned[s] || faults < FAULTS)) -> s++
       :: s < sessions && s + 1 < sessions -> s++
       :: s < sessions && !dead[s] && (abandoned[s] || faults < FAULTS) -> break
       :: s >= sessions -> break
       od;
       if
       :: s < sessions ->
          if :: abandoned[s] :: else -> faults++ fi;
          dead[s] = true;
          w = 0;
          do
          :: w < WINDOWS ->
             if :: state[w] == running && owner[w] == s -> state[w] = ready; owner[w] = NOBODY :: else fi;
             if :: waiting[w] && out_owner[w] == s -> out_owner[w] = NOBODY :: else fi;
             w++
          :: else -> break
          od
       :: else
       fi;
       s = 0; w = 0
     }
  od
}

/* What must hold at every moment: no window that the cursor has passed is without its run. */
active proctype invariant() {
  byte w = 0;
  do
  :: atomic {
       living > 0 ->
       w = 0;
       do
       :: w < cursor -> assert(rows[w] == 1); assert(!received[w] || settled[w] == 1); w++
       :: else -> break
       od;
       w = 0
     }
  :: living == 0 -> break
  od;
  w = 0;
  do
  :: w < WINDOWS ->
     assert(rows[w] == 1 && settled[w] == 1 && received[w] && result[w] == recorded[w]); w++
  :: else -> break
  od
}

init {
  byte i = 0;
  atomic {
    do
    :: i < INSTANCES -> run instance(); i++
    :: else -> break
    od;
    run recovery()
  }
}
