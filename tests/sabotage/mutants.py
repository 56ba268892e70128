"""Builds that are broken on purpose. Each mutant takes one guard away, and at least one of its tests must fail."""

from __future__ import annotations

from dataclasses import dataclass

from tests.sabotage.targets import Edit, sql

CONTRACT = ("tests/contract/test_store_contract.py", "-k", "sqlite-memory")
CONTRACT_PG = ("tests/contract/test_store_contract.py", "-k", "postgres")
BESIDE_PG = ("tests/contract/test_side_by_side.py", "-k", "postgres")
REDRIVING = (CONTRACT[0], "-k", "sqlite-memory and (Redriv or Dead)")
REDRIVING_PG = (CONTRACT[0], "-k", "postgres and (Redriv or Dead)")
CALENDARS = (CONTRACT[0], "-k", "sqlite-memory and (Calendars or Excluded)")
CALENDARS_PG = (CONTRACT[0], "-k", "postgres and (Calendars or Excluded)")
STEPS = (CONTRACT[0], "-k", "sqlite-memory and (Recording or Suspending or Children)")
STEPS_PG = (CONTRACT[0], "-k", "postgres and (Recording or Suspending or Children)")
ON_EVENT = (CONTRACT[0], "-k", "sqlite-memory and (OnEvent or Gathering)")
SHARES = (CONTRACT[0], "-k", "sqlite-memory and QueuesShare")
SHARES_PG = (CONTRACT[0], "-k", "postgres and QueuesShare")
FLOORS = ("tests/store/test_floors.py",)
SIMULATION = tuple(
    f"tests/simulation/test_simulation.py::test_no_fault_loses_or_doubles_a_window_and_everything_comes_to_rest[{first}]"
    for first in range(0, 100, 10)
)
AUDIT = ("tests/store/test_audit.py", "-k", "sqlite")
ENGINE = ("tests/engine", "-k", "sqlite")
BORROWED = ("tests/store/postgres/test_borrowed.py",)
FAMILIES = ("tests/store/postgres/test_families.py",)
RACES = ("tests/store/postgres/test_races.py",)
ZOMBIES = (
    "tests/simulation/test_simulation.py::test_what_zombies_record_is_refused_and_nobody_goes_on_with_another_value",
)


@dataclass(frozen=True)
class Mutant:
    """A build without one guard: its edits, and the tests of which at least one must fail."""

    name: str
    breaks: str
    edits: tuple[Edit, ...]
    tests: tuple[tuple[str, ...], ...]


MUTANTS = (
    Mutant(
        "no-fence-on-records",
        "a step is recorded for whoever says so, also for an attempt that was believed dead",
        (
            Edit(
                "duly.store.methods.stepping.record_steps",
                'locked = {row[0]: row for row in (yield batch("lock_runs", guards))}',
                "ids = [record.run_id for record in records]\n"
                "    locked = {row[0]: (row[0], 1, 1, None) for row in (yield"
                " query('lock_open_runs', ids=ids))}",
            ),
        ),
        (ZOMBIES, STEPS),
    ),
    Mutant(
        "half-of-a-whole",
        "of many schedules that are to be stored together, those that are not refused stay",
        (
            Edit(
                "duly.store.methods.schedules.put_schedules",
                "    if whole:\n        _raise_first(puts)\n    return puts",
                "    return puts",
            ),
        ),
        ((CONTRACT[0], "-k", "of_a_whole and (sqlite-memory or postgres)"),),
    ),
    Mutant(
        "window-identity",
        "a window's run gets a random id: the store cannot refuse the second one",
        (
            Edit(
                "duly.core.ids.window_run_id",
                'blake2b(f"{schedule_id}/{window_at}".encode(), digest_size=10).hexdigest()',
                'blake2b(f"{schedule_id}/{window_at}".encode() + __import__("os").urandom(8),'
                " digest_size=10).hexdigest()",
            ),
        ),
        (CONTRACT, ("tests/differential", "-k", "not postgres")),
    ),
    Mutant(
        "ended-windows-forgotten",
        "a window whose run has ended may fire again, if its cursor says so",
        (
            Edit(sql("sqlite", "insert_runs"), "WHERE NOT EXISTS", "WHERE true OR NOT EXISTS"),
            Edit(sql("postgres", "insert_runs"), "WHERE NOT EXISTS", "WHERE true OR NOT EXISTS"),
        ),
        ((CONTRACT[0], "-k", "Guards and (sqlite-memory or postgres)"),),
    ),
    Mutant(
        "blames-the-next",
        "a schedule is put off for what the database refused, also one that has moved since",
        (
            Edit(sql("sqlite", "set_aside"), " AND fire_at = :fire_at", ""),
            Edit(sql("postgres", "set_aside"), " AND fire_at = :fire_at::bigint", ""),
        ),
        ((CONTRACT[0], "-k", "(Guards or Repeating) and (sqlite-memory or postgres)"),),
    ),
    Mutant(
        "deadlines-left-behind",
        "after an attempt that ended before anybody looked, nobody watches for timeouts",
        (
            Edit(
                "duly.engine.deadlines.Deadlines._watch",
                "self._watching, self._next_look = None, math.inf",
                "self._watching = None",
            ),
        ),
        (("tests/engine/test_deadlines.py",),),
    ),
    Mutant(
        "open-runs-unheeded",
        "a fire looks at no open runs, whatever the policy says",
        (Edit("duly.core.rules.overlap.heeds_open_runs", "return definition.has_width or", "return"),),
        ((CONTRACT[0], "-k", "sqlite-memory and Overlap"), ("tests/core/rules/test_overlap.py",)),
    ),
    Mutant(
        "no-fence",
        "a settle is guarded by run and session only",
        (
            Edit(
                sql("sqlite", "complete_runs"),
                "\nWHERE r.id = done.id AND r.fence = done.fence",
                "\nWHERE r.id = done.id",
            ),
            Edit(
                sql("sqlite", "complete_runs"),
                "\n    WHERE r.id = done.id AND r.fence = done.fence",
                "\n    WHERE r.id = done.id",
            ),
            Edit(sql("sqlite", "finish_runs"), " AND r.fence = done.fence", ""),
            Edit(sql("sqlite", "lock_runs"), " AND fence = :fence", ""),
            Edit(sql("sqlite", "return_runs"), " AND fence = :fence", ""),
            Edit(sql("postgres", "complete_runs"), "(r.id, r.fence, ", "(r.id, "),
            Edit(sql("postgres", "finish_runs"), "(r.id, r.fence, ", "(r.id, "),
            Edit(sql("postgres", "lock_runs"), "(r.id, r.fence, ", "(r.id, "),
            Edit(sql("postgres", "complete_runs"), " coalesce(n.fence, (:fence::bigint[])[1]),", ""),
            Edit(sql("postgres", "finish_runs"), "n.id, n.fence, ", "n.id, "),
            Edit(sql("postgres", "lock_runs"), "n.id, n.fence, ", "n.id, "),
            Edit(sql("postgres", "return_runs"), " AND r.fence = n.fence", ""),
        ),
        (CONTRACT, CONTRACT_PG),
    ),
    Mutant(
        "no-guard",
        "the end of an attempt is written whoever holds the run by now",
        (
            Edit(
                sql("sqlite", "complete_runs"),
                "\nWHERE r.id = done.id AND r.fence = done.fence AND r.claimed_by IS done.session",
                "\nWHERE r.id = done.id",
            ),
            Edit(
                sql("sqlite", "complete_runs"),
                "\n    WHERE r.id = done.id AND r.fence = done.fence AND r.claimed_by IS done.session",
                "\n    WHERE r.id = done.id",
            ),
            Edit(sql("sqlite", "finish_runs"), " AND r.fence = done.fence AND r.claimed_by IS done.session", ""),
            Edit(sql("sqlite", "lock_runs"), " AND fence = :fence AND claimed_by IS :session", ""),
            Edit(sql("sqlite", "return_runs"), " AND fence = :fence AND claimed_by IS :session", ""),
            Edit(sql("sqlite", "finish_runs"), " AND fence = :fence AND claimed_by IS :session", ""),
        ),
        (SIMULATION,),
    ),
    Mutant(
        "fence-unlocked",
        "the fence is looked at first and the write trusts that look",
        (
            Edit(sql("postgres", "lock_runs"), "FOR UPDATE OF r", ""),
            Edit(
                sql("postgres", "complete_runs"),
                "DELETE FROM duly_runs AS r\n    WHERE",
                "DELETE FROM duly_runs AS held USING duly_runs AS r\n    WHERE held.id = r.id AND",
            ),
            Edit(
                sql("postgres", "finish_runs"),
                "DELETE FROM duly_runs AS r\n    WHERE",
                "DELETE FROM duly_runs AS held USING duly_runs AS r\n    WHERE held.id = r.id AND",
            ),
            Edit(
                sql("postgres", "return_runs"),
                " AND r.fence = n.fence AND r.claimed_by IS NOT DISTINCT FROM n.session",
                "",
            ),
        ),
        (("tests/store/postgres/test_guards.py",),),
    ),
    Mutant(
        "singleton-unlocked",
        "who ends a run of a singleton key looks at who waits without locking the lane",
        (Edit(sql("postgres", "lock_lanes"), "FOR UPDATE", ""),),
        (("tests/store/postgres/test_guards.py",),),
    ),
    Mutant(
        "unique-identity",
        "a unique key is another one for every run that is asked for",
        (
            Edit(
                "duly.store.methods.enqueueing._hold_uniques",
                "asked = {(*r.realm, r.unique.key): r.id for",
                "asked = {(*r.realm, r.unique.key + r.id): r.id for",
            ),
            Edit(
                "duly.store.methods.enqueueing._other",
                "holder = holders[*request.realm, request.unique.key]",
                "holder = holders[*request.realm, request.unique.key + request.id]",
            ),
        ),
        ((CONTRACT[0], "-k", "sqlite-memory and Uniques"), ("tests/store/postgres/test_guards.py",)),
    ),
    Mutant(
        "remote-session-owned",
        "the session of a remote worker ends with the process that it asked first",
        (
            Edit(
                "duly.store.bound.keeping.BoundSessions.open_session",
                "        if remote:\n",
                "        if remote and False:\n",
            ),
        ),
        (("tests/store/sqlite/test_presence.py",),),
    ),
    Mutant(
        "remote-unfenced",
        "a report is taken for whichever claim the session has of the run",
        (
            Edit(
                "duly.store.methods.reporting.settle_reported",
                "held.get((report.run_id, report.fence)) or _gone(report)",
                "next((claim for claim in held.values() if claim.id == report.run_id), None) or _gone(report)",
            ),
        ),
        ((CONTRACT[0], "-k", "sqlite-memory and Reporting"),),
    ),
    Mutant(
        "remote-not-woken",
        "a claim that waits hears of new runs at its next look only",
        (Edit("duly.engine.instance.Instance.wake_worker", '            listener("runs")\n', "            pass\n"),),
        (("tests/api/test_worker.py", "-k", "woken and sqlite"),),
    ),
    Mutant(
        "two-transactions",
        "the runs are committed before the cursor moves",
        (
            Edit(
                "duly.store.sqlite.running.run",
                "answers.append(execute(cursor, one))",
                'answers.append(execute(cursor, one)); one.name == "insert_runs" and'
                ' [cursor.execute(word) for word in ("COMMIT", "BEGIN IMMEDIATE")]',
            ),
        ),
        (CONTRACT,),
    ),
    Mutant(
        "two-transactions-on-postgres",
        "the runs are committed before the cursor moves, on PostgreSQL",
        (
            Edit(
                "duly.store.postgres.running.run_program",
                "rows = iter(asked.ask_all([ask for ask in asks if ask is not None], last=step.last))",
                "rows = iter([found for one, ask in zip(step.steps, asks, strict=True) if ask is"
                ' not None for found in [asked.ask(ask)] if one.name != "insert_runs" or'
                ' [asked._wire.run(word) for word in (b"COMMIT", b"BEGIN")]] if'
                ' step.steps[0].name == "insert_runs" else asked.ask_all([ask for ask in asks if'
                " ask is not None], last=step.last))",
            ),
        ),
        (("tests/store/postgres/test_outcomes.py", "-k", "moves_the_cursor"),),
    ),
    Mutant(
        "steps-before-their-children",
        "what a body has recorded is committed before the runs that it starts",
        (
            Edit(
                "duly.store.sqlite.running.run",
                "answers.append(execute(cursor, one))",
                'answers.append(execute(cursor, one)); one.name == "put_steps" and'
                ' [cursor.execute(word) for word in ("COMMIT", "BEGIN IMMEDIATE")]',
            ),
        ),
        ((CONTRACT[0], "-k", "sqlite-memory and WhatIsAsked and cut_off and record_steps"),),
    ),
    Mutant(
        "instance-clock",
        "leases are compared with the clock of the instance that looks",
        (
            Edit(
                "duly.store.methods.sessions.take_lost",
                'query("expire_sessions", now=now)',
                'query("expire_sessions", now=__import__("time").time_ns() // 1_000_000)',
            ),
        ),
        (CONTRACT, ENGINE, SIMULATION),
    ),
    Mutant(
        "lane-unlocked",
        "a settle releases a lane without holding its cursor",
        (Edit(sql("postgres", "lock_cursors"), "FOR UPDATE", ""),),
        (BESIDE_PG,),
    ),
    Mutant(
        "revived-session",
        "a heartbeat brings back a session that was declared dead",
        (
            Edit(
                sql("sqlite", "extend_session"),
                "UPDATE duly_instances SET expires_at = :expires_at",
                "INSERT INTO duly_instances VALUES (:session, '', '', 0, '[]', '', '', '[]', 0,"
                " :expires_at) ON CONFLICT DO UPDATE SET expires_at = :expires_at",
            ),
        ),
        (CONTRACT, ENGINE, SIMULATION),
    ),
    Mutant(
        "attempt-as-fence",
        "the fence is the attempt's number, which a release gives back",
        (Edit(sql("sqlite", "claim_ready"), "fence = fence + 1", "fence = attempt + 1"),),
        (CONTRACT, SIMULATION),
    ),
    Mutant(
        "hanging-beat",
        "a lease is doubted only when a beat fails, and not while one hangs",
        (Edit("duly.engine.heartbeat.Heartbeat.watch", "            self._on_distrust(session)\n", ""),),
        (("tests/engine/test_heartbeat.py", "tests/engine/test_leases.py", "-k", "sqlite or distrust"),),
    ),
    Mutant(
        "suspects-together",
        "runs that were lost with their process are claimed together again",
        (
            Edit(
                "duly.core.rules.suspects.Suspect.goes_alone",
                "return self.attempt > 1 or self.attempt + 1 >= self.max_attempts",
                "return False",
            ),
        ),
        (CONTRACT, ("tests/engine/test_suspects.py", "-k", "sqlite")),
    ),
    Mutant(
        "dead-session-claims",
        "a session that was declared dead goes on claiming",
        (
            Edit(
                sql("sqlite", "hold_session"),
                "WHERE session = :session",
                "WHERE 1 OR session = :session UNION SELECT 1",
            ),
        ),
        (CONTRACT,),
    ),
    Mutant(
        "redrive-unlocked",
        "a redrive looks at the dead row without locking it",
        (Edit(sql("postgres", "lock_dead"), "FOR UPDATE", ""),),
        (REDRIVING_PG,),
    ),
    Mutant(
        "redrive-forgets-the-fence",
        "a redriven run starts with a new fence, so that an attempt from before can end it",
        (
            Edit(
                sql("sqlite", "revive_runs"), "h.max_attempts, h.fence, h.timeout_ms", "h.max_attempts, 0, h.timeout_ms"
            ),
        ),
        (REDRIVING,),
    ),
    Mutant(
        "redrive-any-death",
        "a redrive answers whatever death the run has now, not the one it was asked about",
        (Edit("duly.store.methods.dead_letters._is_meant", "ref.fence in (None, run.fence)", "True"),),
        (REDRIVING,),
    ),
    Mutant(
        "handler-after-the-death",
        "the run of the on_dead handler is made in a transaction after the one that ends the dead run",
        (
            Edit(
                "duly.store.sqlite.running.run",
                "answers.append(execute(cursor, one))",
                'answers.append(execute(cursor, one)); one.name == "finish_runs" and'
                ' [cursor.execute(word) for word in ("COMMIT", "BEGIN IMMEDIATE")]',
            ),
        ),
        ((CONTRACT[0], "-k", "sqlite-memory and settle_deaths"),),
    ),
    Mutant(
        "calendar-kept-for-ever",
        "a calendar that was read once is not asked for again",
        (Edit(sql("sqlite", "read_calendars"), " AND c.revision IS asked.revision", ""),),
        (CALENDARS,),
    ),
    Mutant(
        "calendar-by-revision-alone",
        "a calendar that was deleted and made again is taken for the one before",
        (Edit(sql("sqlite", "read_calendars"), "c.id IS asked.id AND ", ""),),
        (CALENDARS,),
    ),
    Mutant(
        "calendar-not-held",
        "a schedule that is made does not hold the calendar it names, and a delete beside it sees nobody",
        (Edit(sql("postgres", "hold_calendars"), "FOR KEY SHARE OF c", ""),),
        (CALENDARS_PG,),
    ),
    Mutant(
        "excluded-dates-across-a-change",
        "local dates are thought to follow one another also where the clocks change",
        (
            Edit(
                "duly.core.rules.excluding.Exclusions.constant_from",
                "min(until // 1000, stretch.end - 1)",
                "until // 1000",
            ),
            Edit(
                "duly.core.rules.excluding.Exclusions.constant_from",
                "min(midnight, stretch.end) * 1000",
                "midnight * 1000",
            ),
        ),
        (("tests/core/rules/test_excluding.py",),),
    ),
    Mutant(
        "excluded-stand-in",
        "a due window that is excluded counts as the catch-up of a missed one",
        (
            Edit(
                "duly.core.rules.excluding.steps_excluding",
                "if len(spans) == 1 else OpenWindows(definition, windows, kept)",
                "",
            ),
        ),
        (("tests/core/rules/test_excluding.py",),),
    ),
    Mutant(
        "record-unfenced",
        "a worker that was believed dead writes into the record of its successor",
        (
            Edit(
                "duly.store.methods.stepping.record_steps",
                "live = [record for record in records if record.run_id in locked and locked[record.run_id][3] is None]",
                "live = list(records)",
            ),
        ),
        (STEPS, STEPS_PG),
    ),
    Mutant(
        "sleep-without-a-look",
        "a run goes to sleep without looking for messages that its body has not seen",
        (
            Edit(
                "duly.store.methods.settling._Verdicts._place",
                "if isinstance(s.outcome, Suspended) and self._tops.get(s.claim.id, 0) <= s.outcome.seen:",
                "if isinstance(s.outcome, Suspended):",
            ),
        ),
        (STEPS, STEPS_PG),
    ),
    Mutant(
        "last-record-wins",
        "what has ended can be recorded again with another result",
        (
            Edit(sql("sqlite", "put_steps"), "duly_steps.status = 'asked' OR", "true OR"),
            Edit(sql("postgres", "put_steps"), "duly_steps.status = 'asked' OR", "true OR"),
        ),
        (STEPS, STEPS_PG),
    ),
    Mutant(
        "events-forgotten",
        "a way in which runs end is not told",
        (Edit("duly.store.methods.telling.TOLD_BY", '    "end_waiting": _ended_waiting,\n', ""),),
        (("tests/store/test_telling.py",), ("tests/differential/test_events_agree.py", "-k", "sqlite")),
    ),
    Mutant(
        "event-numbers-unlocked",
        "two who read give numbers at once",
        (Edit(sql("postgres", "lock_watch"), "FOR UPDATE", ""),),
        ((BESIDE_PG[0], "-k", "postgres and number"),),
    ),
    Mutant(
        "unwatched-time-untold",
        "who comes back across a time in which nobody watched does not hear of it",
        (
            Edit(
                "duly.store.methods.events.watch_events",
                '        yield query("insert_stream_event", now=now, name=RESET, reason="began")\n',
                "",
            ),
        ),
        ((CONTRACT[0], "-k", "sqlite-memory and TestEvents"),),
    ),
    Mutant(
        "no-time-for-heads",
        "half a head may be sent for ever",
        (
            Edit(
                "duly.api.connection.Connection._watch",
                "within = limits.header_timeout",
                "within = 3600 + limits.header_timeout",
            ),
        ),
        (("tests/serve/test_slow_clients.py", "-k", "half"),),
    ),
    Mutant(
        "requests-ahead-are-read",
        "who sends requests without waiting for answers has them all kept in memory",
        (Edit("duly.api.connection.Connection._hold", "held = bool(self.pipeline or self._unparsed)", "held = False"),),
        (("tests/serve/test_slow_clients.py", "-k", "ahead_are"),),
    ),
    Mutant(
        "nobody-makes-room",
        "connections that only wait keep others out",
        (Edit("duly.api.connection.Connection.connection_made", "            self._make_room()\n", ""),),
        (("tests/serve/test_slow_clients.py", "-k", "too_many"),),
    ),
    Mutant(
        "answers-are-waited-for",
        "a client that does not read its answer is never cut off",
        (
            Edit(
                "duly.api.connection.Connection.pause_writing",
                "self._limits.send_timeout,",
                "60 + self._limits.send_timeout,",
            ),
        ),
        (("tests/serve/test_slow_clients.py", "-k", "does_not_read"),),
    ),
    Mutant(
        "databases-for-everybody",
        "every user of the machine may read a new database",
        (Edit("duly.store.sqlite.connecting.connect", "    _create_for_us_alone(path)\n", ""),),
        (("tests/store/sqlite/test_connecting.py", "-k", "not_for_others"),),
    ),
    Mutant(
        "everybody-sees-everything",
        "what an owner asks for is not narrowed to what is theirs",
        (Edit("duly.store.narrowing._step", '"tenant": whose.tenant, "owner": whose.owner}', "}"),),
        (("tests/api/test_auth.py", "-k", "404 or list or many"),),
    ),
    Mutant(
        "operations-touch-everything",
        "an operation that a janitor carries on is not kept to whom it was begun by",
        (
            Edit(
                "duly.store.bound.operations.BoundOperations.step_operation",
                "if progress.whose is None else self.seen_by(progress.whose)",
                "",
            ),
        ),
        ((CONTRACT[0], "-k", "sqlite-memory and Owning"),),
    ),
    Mutant(
        "any-key-will-do",
        "a key is known by its id alone",
        (Edit("duly.app.credentials.Keys.caller", "or not right or not", "or not"),),
        (("tests/api/test_auth.py", "-k", "bad_key"),),
    ),
    Mutant(
        "no-scopes",
        "a credential may do anything",
        (Edit("duly.api.auth.guard.Guard.admit", "if not caller.may(needed):", "if False:"),),
        (("tests/api/test_auth.py", "-k", "403"),),
    ),
    Mutant(
        "in-any-name",
        "an owner may create in the name of another",
        (Edit("duly.app.owning.Owning._check", "if given and given != mine:", "if False:"),),
        (("tests/api/test_auth.py", "-k", "belongs_to_the_caller"),),
    ),
    Mutant(
        "tokens-as-they-come",
        "instants of a token are taken as the library takes them",
        (
            Edit(
                "duly.api.auth.jwt.Issuer._read", "if not all(_is_instant(at) for at in (exp, iat, nbf)):", "if False:"
            ),
        ),
        (("tests/api/test_jwt.py", "-k", "bad_tokens"),),
    ),
    Mutant(
        "term-unchecked",
        "a fire is not asked whether its instance still leads",
        (
            Edit(
                sql("sqlite", "hold_term"),
                "WHERE role = :role AND session = :session AND term = :term",
                "WHERE role = :role",
            ),
        ),
        (("tests/engine/test_election.py", "-k", "sqlite"), (CONTRACT[0], "-k", "sqlite-memory and Electing")),
    ),
    Mutant(
        "leader-trusts-for-ever",
        "a leader that cannot renew goes on believing that it leads",
        (
            Edit(
                "duly.engine.election.Election.term",
                " or self._clock.steady() >= self._trusted_until:\n            return None",
                ":\n            return None",
            ),
        ),
        (("tests/engine/test_election.py", "-k", "sqlite"),),
    ),
    Mutant(
        "lead-not-handed-over",
        "a leader that stops lets its lease run out",
        (
            Edit(
                "duly.engine.election.Election.stop",
                "        await self._store.release_lease(LEADER, led.session)\n",
                "",
            ),
        ),
        (("tests/engine/test_election.py", "-k", "sqlite"),),
    ),
    Mutant(
        "audit-misses-doubles",
        "an audit takes two rows of a window for one",
        (
            Edit(
                "duly.core.rules.auditing._Case._cover",
                "            if len(told) > 1:",
                "            if len(told) > 2:",
            ),
        ),
        (AUDIT,),
    ),
    Mutant(
        "audit-misses-gaps",
        "an audit does not look for windows without a row",
        (
            Edit(
                "duly.core.rules.auditing._Case._missing",
                "                    missed.append(window)\n",
                "                    pass\n",
            ),
        ),
        (AUDIT,),
    ),
    Mutant(
        "audit-prolongs-pauses",
        "an audit takes a pause to last until somebody noticed that it was over",
        (
            Edit(
                "duly.core.rules.living.pauses_of",
                "until = switch.at if switch.as_of is None else switch.as_of",
                "until = switch.at",
            ),
        ),
        (AUDIT,),
    ),
    Mutant(
        "audit-believes-ids",
        "an audit does not compare a row's id with its window",
        (
            Edit(
                "duly.core.rules.auditing._Case._look_at",
                "if alone and row.id != window_run_id(life.schedule_id, window):",
                "if False:",
            ),
        ),
        (AUDIT,),
    ),
    Mutant(
        "no-sync-per-commit",
        "a commit is answered before the disk has it",
        (Edit("duly.store.sqlite.connecting._set_up", '("synchronous", "FULL")', '("synchronous", "NORMAL")'),),
        (("tests/chaos/test_harness.py", "-k", "s03"),),
    ),
    Mutant(
        "no-guard-in-a-fleet",
        "the end of an attempt is written whoever holds the run by now, in real processes",
        (
            Edit(
                sql("sqlite", "complete_runs"),
                "\nWHERE r.id = done.id AND r.fence = done.fence AND r.claimed_by IS done.session",
                "\nWHERE r.id = done.id",
            ),
            Edit(
                sql("sqlite", "complete_runs"),
                "\n    WHERE r.id = done.id AND r.fence = done.fence AND r.claimed_by IS done.session",
                "\n    WHERE r.id = done.id",
            ),
            Edit(sql("sqlite", "finish_runs"), " AND r.fence = done.fence AND r.claimed_by IS done.session", ""),
            Edit(sql("sqlite", "lock_runs"), " AND fence = :fence AND claimed_by IS :session", ""),
            Edit(sql("sqlite", "return_runs"), " AND fence = :fence AND claimed_by IS :session", ""),
            Edit(sql("sqlite", "finish_runs"), " AND fence = :fence AND claimed_by IS :session", ""),
        ),
        (("chaos", "--rows", "F07", "--store", "sqlite", "--repeat", "1", "--seed", "1"),),
    ),
    Mutant(
        "settled-before-the-confirm",
        "a delivery counts as done although nobody has confirmed it",
        (
            Edit(
                "duly.targets.delivering.Deliverer._outcome",
                'return Failed(f"{self._outlet.name}: {reason}", wait_ms=round((retry_after or 0) * 1000))',
                "return None",
            ),
        ),
        (
            ("chaos", "--rows", "B04", "--store", "sqlite", "--repeat", "1", "--seed", "1"),
            ("chaos", "--rows", "B06b", "--store", "sqlite", "--repeat", "1", "--seed", "1"),
        ),
    ),
    Mutant(
        "another-body-each-time",
        "a message that is sent again says which attempt it is, and so is another message",
        (
            Edit(
                "duly.targets.envelope._data",
                "departure.attempt if departure.expects_answer else 1",
                "departure.attempt",
            ),
        ),
        (("chaos", "--rows", "B06b", "--store", "sqlite", "--repeat", "1", "--seed", "1"),),
    ),
    Mutant(
        "acknowledged-before-it-is-handled",
        "a consumer acknowledges a message before its handler has returned",
        (
            Edit(
                "duly.consuming.consumer.Consumer._handle",
                "            await handler(delivery)\n",
                "            await self._source.finish(delivery)\n            await handler(delivery)\n",
            ),
        ),
        (("chaos", "--rows", "B03", "--store", "sqlite", "--repeat", "1", "--seed", "1"),),
    ),
    Mutant(
        "waits-by-the-wall-clock",
        "the trust in a lease and the end of an attempt go by a clock that people set",
        (
            Edit("duly.engine.heartbeat.Heartbeat.trusted", "self._clock.steady()", "(self._clock.now() / 1000)"),
            Edit("duly.engine.heartbeat.Heartbeat.watch", "self._clock.steady()", "(self._clock.now() / 1000)"),
            Edit("duly.engine.heartbeat.Heartbeat.run_once", "self._clock.steady()", "(self._clock.now() / 1000)"),
            Edit("duly.engine.heartbeat.Heartbeat.beat_once", "self._clock.steady()", "(self._clock.now() / 1000)"),
            Edit("duly.engine.heartbeat.Heartbeat._stands_still", "self._clock.steady()", "(self._clock.now() / 1000)"),
            Edit("duly.engine.heartbeat.Heartbeat._turned", "self._clock.steady()", "(self._clock.now() / 1000)"),
            Edit("duly.engine.heartbeat.Heartbeat._skew", "self._clock.steady()", "(self._clock.now() / 1000)"),
            Edit("duly.engine.heartbeat.Heartbeat.__init__", "clock.steady()", "clock.now() / 1000"),
            Edit("duly.engine.deadlines.Deadlines.watch", "self._clock.steady()", "(self._clock.now() / 1000)"),
            Edit("duly.engine.deadlines.Deadlines._watch", "self._clock.steady()", "(self._clock.now() / 1000)"),
            Edit("duly.engine.deadlines.Deadlines._look", "self._clock.steady()", "(self._clock.now() / 1000)"),
        ),
        (("tests/engine/test_jumps.py", "-k", "sqlite"), ("tests/engine/test_deadlines.py",)),
    ),
    Mutant(
        "another-id-when-repeated",
        "a run that is asked for again, because the answer was lost, is another run",
        (
            Edit(
                "duly.store.methods.enqueueing._new_run",
                "def _new_run(now: int, request: NewRequest) -> NewRun:\n",
                "def _new_run(now: int, request: NewRequest) -> NewRun:\n"
                "    object.__setattr__(request, 'id', str(__import__('uuid').uuid4()))\n",
            ),
        ),
        (("tests/store/postgres/test_outcomes.py", "-k", "enqueue"),),
    ),
    Mutant(
        "claims-more-than-it-may",
        "a claim takes more runs than were asked for",
        (Edit(sql("postgres", "claim_ready"), "LIMIT :limit::bigint", "LIMIT :limit::bigint * 2"),),
        ((CONTRACT[0], "-k", "postgres and laim"),),
    ),
    Mutant(
        "no-jitter",
        "runs that failed together are tried again together",
        (Edit("duly.core.rules.backoff.delay_ms", "if not retry.jitter:", "if True:"),),
        (("tests/core/rules/test_backoff.py",),),
    ),
    Mutant(
        "calls-without-an-end",
        "a call to a server that has fallen silent waits for ever",
        (Edit("duly.store.postgres.watchdog.Watchdog._guard", "                        watch.abort()\n", ""),),
        (("tests/store/postgres/test_outcomes.py", "-k", "silen"),),
    ),
    Mutant(
        "stops-without-giving-back",
        "an instance that is told to stop keeps the runs that it cannot finish",
        (Edit("duly.engine.worker.Worker.drain", "attempt.stop(Stop.SHUTDOWN)", "pass"),),
        (("tests/engine/test_stop.py", "-k", "sqlite"),),
    ),
    Mutant(
        "a-clock-in-the-where",
        "a claim asks the clock once per row, which no index can serve",
        (
            Edit(
                sql("postgres", "claim_ready"),
                "AND :now::bigint",
                "AND floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
            ),
        ),
        (("tests/store/postgres/test_plans.py", "-k", "claim"),),
    ),
    Mutant(
        "webhooks-anywhere",
        "a name may lead a webhook inside",
        (
            Edit(
                "duly.core.endpoint.check_addresses",
                "if why is not None and not allowed.address(address):",
                "if False:",
            ),
        ),
        (("tests/targets/test_webhook.py", "-k", "w30 or w31"),),
    ),
    Mutant(
        "the-first-address-will-do",
        "only the first address of a name is checked",
        (Edit("duly.core.endpoint.check_addresses", "for address in found:", "for address in found[:1]:"),),
        (("tests/targets/test_webhook.py", "-k", "w31"),),
    ),
    Mutant(
        "any-body-is-signed",
        "a signature says nothing of the body",
        (Edit("duly.core.signing._sign", ".encode() + body", ".encode()"),),
        (("tests/core/test_signing.py",),),
    ),
    Mutant(
        "webhooks-of-others",
        "a webhook hears of a schedule that is not its owner's",
        (Edit(sql("sqlite", "interested_in_schedules"), " AND (w.owner IS NULL OR w.owner = s.owner)", ""),),
        ((CONTRACT[0], "-k", "sqlite-memory and TellingWebhooks"),),
    ),
    Mutant(
        "owed-again-and-again",
        "a fire that is owed is told at every look",
        (Edit(sql("sqlite", "insert_overdue"), "ON CONFLICT DO NOTHING", "ON CONFLICT DO UPDATE SET since = since"),),
        ((CONTRACT[0], "-k", "sqlite-memory and TellingWebhooks"), ("tests/engine/test_auditor.py", "-k", "webhooks")),
    ),
    Mutant(
        "news-of-news",
        "webhooks are told of the runs that tell webhooks",
        (Edit(sql("sqlite", "interested_in_runs"), "seen.job <> :job AND", ":job IS NOT NULL AND"),),
        ((CONTRACT[0], "-k", "sqlite-memory and TellingWebhooks"),),
    ),
    Mutant(
        "an-event-twice",
        "an event that is published again under its id is taken for a new one",
        (
            Edit(
                "duly.store.methods.publishing.publish_event",
                "            return Published(repeated=True)",
                "            pass",
            ),
        ),
        (ON_EVENT,),
    ),
    Mutant(
        "gathered-by-what-has-begun",
        "an event is added to a run that waits for its next try",
        (Edit(sql("sqlite", "lock_gathered"), " AND fence = 0 AND claimed_by IS NULL", ""),),
        (ON_EVENT,),
    ),
    Mutant(
        "quiet-counts-from-the-first",
        "a debounced run goes although events still come",
        (Edit("duly.core.on_event.add_event", "quiet_at = now + handler.quiet_ms", "quiet_at = so_far.due_at"),),
        (ON_EVENT,),
    ),
    Mutant(
        "a-child-that-nobody-knows",
        "a parent waits for ever for a child that nobody can run",
        (
            Edit(
                "duly.workflow.runner.Stint._go_on",
                "if (ask := await unknown_child(body, self._world)) is not None:",
                "if ask := None:",
            ),
        ),
        (("tests/workflow/test_long_waits.py", "-k", "sqlite and h11"),),
    ),
    Mutant(
        "cancelled-by-its-first-id-only",
        "a cancel does not reach the run that another went on as",
        (Edit("duly.app.runs.Runs.cancel", "(run is None or run.went_on)", "run is None"),),
        (("tests/workflow/test_long_waits.py", "-k", "sqlite and h13"),),
    ),
    Mutant(
        "one-unreadable-hides-all",
        "a schedule that a newer version wrote stops all that is done to many",
        (
            Edit(
                "duly.store.methods.schedules.readable_schedules",
                "with suppress(UnreadableDefinition):",
                "with suppress(KeyError):",
            ),
        ),
        ((CONTRACT[0], "-k", "sqlite-memory and newer_version_wrote"),),
    ),
    Mutant(
        "adopted-all-at-once",
        "a start writes all runs that waited for its jobs in one statement",
        (
            Edit(sql("sqlite", "adopt_jobs"), "LIMIT :limit", "LIMIT :limit + 1000"),
            Edit(sql("postgres", "adopt_jobs"), "LIMIT :limit::bigint", "LIMIT :limit::bigint + 1000"),
        ),
        (
            ("tests/contract/test_adopting.py", "-k", "sqlite-memory"),
            ("tests/contract/test_adopting.py", "-k", "postgres"),
        ),
    ),
    Mutant(
        "a-batch-every-heartbeat",
        "the janitor rests although pauses have ended that it did not come to",
        (Edit("duly.engine.janitor.Janitor._end_pauses", "if resumed == BATCH:", "if False:"),),
        (("tests/engine/test_janitor.py", "-k", "sqlite"),),
    ),
    Mutant(
        "a-batch-of-topics-every-heartbeat",
        "the janitor rests although topics are left that nobody hears",
        (Edit("duly.engine.janitor.Janitor._tend", "return BATCH in (adopted, len(unheard))", "return False"),),
        (("tests/engine/test_janitor.py", "-k", "sqlite"),),
    ),
    Mutant(
        "changes-keep-a-pause-that-is-over",
        "a change passes over the windows that came since the end of a pause, if nobody noticed that before",
        (Edit("duly.store.methods.changes.end_pauses", "    if not over:\n", "    if True:\n"),),
        ((CONTRACT[0], "-k", "sqlite-memory and nobody_noticed"),),
    ),
    Mutant(
        "many-keep-a-pause-that-is-over",
        "a pause of many leaves a pause that is over, so that the janitor resumes what was to be paused",
        (
            Edit(sql("sqlite", "expired_pauses_of"), "paused_until <= :now", "paused_until < 0"),
            Edit(
                sql("postgres", "expired_pauses_of"),
                "paused_until + 0 <= :now::bigint",
                "paused_until + 0 < :now::bigint * 0",
            ),
        ),
        (
            (CONTRACT[0], "-k", "sqlite-memory and nobody_noticed"),
            (CONTRACT[0], "-k", "postgres and nobody_noticed"),
        ),
    ),
    Mutant(
        "pauses-end-with-a-round",
        "a pause ends at the janitor's next round, not at its end",
        (Edit("duly.engine.janitor.Janitor.run_once", "min(self._round_at, pause_ends_at)", "self._round_at"),),
        (("tests/engine/test_janitor.py", "-k", "sqlite"),),
    ),
    Mutant(
        "sure-of-a-commit-that-was-sent-along",
        "a commit whose answer is lost is taken for one that was not done",
        (
            Edit(
                "duly.store.postgres.committing.Writing._ask_last",
                "self._wire.prepare_all(everything)\n        self._begin_commit()",
                "self._wire.prepare_all(everything)",
            ),
        ),
        (("tests/store/postgres/test_outcomes.py", "-k", "sent_with_its_step"),),
    ),
    Mutant(
        "unsure-of-what-the-server-refused",
        "a statement that was refused is told as a commit of which nobody knows",
        (
            Edit(
                "duly.store.postgres.committing.Writing._ask_last",
                "self._lent.committing = not any(map(_is_refused, results[:count]))",
                "self._lent.committing = True",
            ),
        ),
        (("tests/store/postgres/test_outcomes.py", "-k", "sent_with_its_step"),),
    ),
    Mutant(
        "a-guess-is-believed",
        "a transaction goes by what somebody thinks that the server's clock shows",
        (
            Edit(
                sql("postgres", "set_out"),
                "coalesce(c.shows - :guess::bigint BETWEEN 0 AND 1000000, true)",
                "coalesce(:guess::bigint > 0, true)",
            ),
        ),
        (("tests/store/postgres/test_foretelling.py",),),
    ),
    Mutant(
        "the-time-is-told-by-a-guess",
        "who asks the store for the time is told a guess, and what goes by one alone is refused for good",
        (
            Edit(
                "duly.store.postgres.transactions.Transactions._run",
                "            if not asking.begun:\n                raise Misjudged from",
                "            if False:\n                raise Misjudged from",
            ),
            Edit(
                "duly.store.postgres.transactions.Transactions._run",
                "if not asking.begun:\n            raise",
                "if False:\n            raise",
            ),
        ),
        (("tests/store/postgres/test_foretelling.py",),),
    ),
    Mutant(
        "commits-on-dead-lines",
        "a commit is sent on a connection that the server has closed, and nobody knows what came of it",
        (Edit("duly.store.postgres.committing.Writing._ask_last", "self._wire.check()", "pass"),),
        (("tests/store/postgres/test_outcomes.py", "-k", "died_while_idle"),),
    ),
    Mutant(
        "poolers-are-believed",
        "what a pooler says of its lost server is taken for the server's word that it did not commit",
        (Edit("duly.store.postgres.committing._is_refused", "not code.startswith(_CONNECTION_LOST)", "True"),),
        (("tests/store/postgres/test_outcomes.py", "-k", "pooler"),),
    ),
    Mutant(
        "callers-take-the-engines-threads",
        "callers who wait for one locked schedule keep all fires, claims and settles waiting",
        (
            Edit(
                "duly.store.postgres.driver.PostgresDriver._make_ready",
                'self._engine_threads = Threads(self._most, "duly-postgres-engine")\n'
                '        self._threads = Threads(self._most, "duly-postgres")',
                'self._threads = self._engine_threads = Threads(self._most, "duly-postgres")',
            ),
        ),
        (("tests/store/postgres/test_waiting.py", "-k", "engine"),),
    ),
    Mutant(
        "limits-begin-on-the-thread",
        "the time limit of a call does not count how long it waited for a thread",
        (
            Edit(
                "duly.store.postgres.transactions.Transactions.run", "(now if called_at is None else called_at)", "now"
            ),
        ),
        (("tests/store/postgres/test_waiting.py", "-k", "limit"),),
    ),
    Mutant(
        "early-on-postgres",
        "a fire that comes a moment early does not wait for the server's clock, and says that it has",
        (
            Edit(
                "duly.store.postgres.transactions.Transactions._wait_for",
                "now += self._pass(due * 1000 - now)",
                "now = due * 1000",
            ),
        ),
        (("tests/store/postgres/test_due.py",),),
    ),
    Mutant(
        "early-on-sqlite",
        "a fire that comes a moment early is run at once",
        (
            Edit(
                "duly.store.sqlite.writer.Writer._collect",
                "(self._waiting if call.begin_at is None else self._early)",
                "self._waiting",
            ),
        ),
        (("tests/store/sqlite/test_writer.py",),),
    ),
    Mutant(
        "recovery-goes-by-a-clock-that-leapt",
        "a leap of the store's clock takes every lease",
        (
            Edit(
                "duly.store.methods.sessions.take_lost",
                "if expected is not None and not expected[0] <= now <= expected[1]:",
                "if False:",
            ),
        ),
        (CONTRACT, ("tests/engine/test_jumps.py",)),
    ),
    Mutant(
        "told-after-the-commit",
        "what a transaction did is told when it has been committed already",
        (
            Edit(
                "duly.store.methods.telling.Tap._listen",
                "step.last and (facts or any(one.name in TOLD_BY for one in step.steps))",
                "step.last and facts",
            ),
        ),
        (("tests/contract/test_store_contract.py", "-k", "postgres and Events"),),
    ),
    Mutant(
        "suspects-follow-unwritten-ends",
        "a suspect is tried while the end of the one before it is still on its way, and dies with it",
        (
            Edit(
                "duly.engine.worker.Worker._finish",
                "        elif claim.suspect and self._suspects.end(claim.id):",
                "        if claim.suspect and self._suspects.end(claim.id):",
            ),
        ),
        (("tests/engine/test_suspects.py",),),
    ),
    Mutant(
        "a-queue-takes-all",
        "the first queue of a priority may take all the room of a claim",
        (
            Edit(
                "duly.core.rules.fairness.shares",
                "share = quota(room - before, len(queues) - turn)",
                "share = room - before",
            ),
        ),
        (("tests/core/rules/test_fairness.py",), SHARES, SHARES_PG),
    ),
    Mutant(
        "queues-by-name",
        "where there is room for one run, it is always of the queue whose name comes first",
        (
            Edit(
                "duly.core.rules.fairness.shuffled",
                'sorted(queues, key=lambda queue: blake2b(f"{seed}/{queue}".encode(), digest_size=8).digest())',
                "sorted(queues)",
            ),
        ),
        (("tests/core/rules/test_fairness.py",), SHARES, ("tests/engine/test_queues.py",)),
    ),
    Mutant(
        "no-second-turn",
        "what other queues leave of a claim is left, however much waits in one",
        (Edit("duly.core.rules.fairness.shares", "            wanting.append(queue)\n", "            pass\n"),),
        (("tests/core/rules/test_fairness.py",), SHARES),
    ),
    Mutant(
        "asks-lines-that-are-not-due",
        "queues whose runs are not due yet take a share and cost a statement each",
        (Edit("duly.store.methods.claiming.claim_runs", "if line.first_due_at <= now", "if True"),),
        (("tests/store/postgres/test_round_trips.py",),),
    ),
    Mutant(
        "no-floor",
        "every claim walks over all that waits for other workers",
        (Edit("duly.store.methods.claiming._claim_ready", "floor=floor or GROUND", "floor=GROUND"),),
        (FLOORS,),
    ),
    Mutant(
        "floors-for-ever",
        "a run that comes in with an instant long past is never found behind a backlog of another job",
        (
            Edit(
                "duly.store.methods.floors.Floors.of",
                "floor is not None and 0 <= now - floor.made_at < LASTS_MS",
                "floor is not None",
            ),
        ),
        (FLOORS, (CONTRACT[0], "-k", "TestClaiming and (sqlite-memory or postgres)")),
    ),
    Mutant(
        "floors-up-to-now",
        "what is committed a moment after its instant waits as if it were long past",
        (Edit("duly.store.methods.claiming._look_back", "min(first_due_at, asking.now - MARGIN_MS)", "first_due_at"),),
        (FLOORS,),
    ),
    Mutant(
        "floors-hide-what-is-let-go",
        "the next run of a lane waits for seconds behind a backlog of another job",
        (
            Edit(
                "duly.store.bound.engine.BoundClaiming._let_go",
                "            self._floors.forget()\n",
                "            pass\n",
            ),
        ),
        (FLOORS,),
    ),
    Mutant(
        "floor-as-a-filter",
        "a claim begins at the head of its line and only leaves out what lies below the floor",
        (
            Edit(sql("sqlite", "claim_ready"), "due_at BETWEEN :floor", "due_at + 0 BETWEEN :floor"),
            Edit(sql("postgres", "claim_ready"), "due_at BETWEEN :floor", "due_at + 0 BETWEEN :floor"),
        ),
        (("tests/store/postgres/test_plans.py", "-k", "claim"), ("tests/store/sqlite/test_plans.py",)),
    ),
    Mutant(
        "fires-take-every-place",
        "fires that meet every free place keep what is enqueued waiting for ever",
        (Edit("duly.engine.worker.Worker.reserve", "UNCLAIMED_POLLS * self._settings.poll", "10**9"),),
        (("tests/engine/test_queues.py",),),
    ),
    Mutant(
        "ended-runs-come-back",
        "an enqueue that is repeated while its run ends makes that run a second time",
        (Edit(sql("postgres", "drop_returned"), "r.fence = 0", "r.fence < 0"),),
        (("tests/store/postgres/test_guards.py",),),
    ),
    Mutant(
        "ended-children-come-back",
        "a record that is repeated while its child ends makes that child a second time",
        (
            Edit(
                "duly.store.methods.stepping._writes",
                'writes.append(query("drop_returned", ids=[run.id for run in runs]))',
                "pass",
            ),
        ),
        (FAMILIES,),
    ),
    Mutant(
        "new-children-escape-a-cancel",
        "a cancel does not look again for the child that was being recorded while it waited",
        (Edit("duly.store.methods.runs._lock_below", "        found = {row[0] for row in rows}\n", "        pass\n"),),
        (FAMILIES,),
    ),
    Mutant(
        "redrives-miss-an-end",
        "a child ends while its parent is redriven, and nobody tells that parent",
        (Edit(sql("postgres", "lock_children"), "FOR UPDATE OF r", ""),),
        (FAMILIES,),
    ),
    Mutant(
        "dead-parents-hear-nothing",
        "what a child came to while its parent was dead is never heard of when that goes again",
        (
            Edit(sql("postgres", "ended_children"), "c.position > 0", "c.position < 0"),
            Edit(sql("sqlite", "ended_children"), "c.position > 0", "c.position < 0"),
        ),
        (("tests/contract/test_store_contract.py", "-k", "was_dead_is_heard"),),
    ),
    Mutant(
        "families-in-any-order",
        "two settles that end each other's children wait in a circle",
        (Edit(sql("postgres", "lock_families"), "FOR UPDATE", ""),),
        (FAMILIES,),
    ),
    Mutant(
        "purged-while-they-begin",
        "a request with an old key begins anew and is purged, so that it is done again when it is repeated",
        (Edit(sql("postgres", "purge_requests"), "  AND expires_at <= :now::bigint\nRETURNING", "RETURNING"),),
        (RACES,),
    ),
    Mutant(
        "purged-while-they-are-asked-for",
        "a unique key that somebody is taking again is purged",
        (
            Edit(sql("postgres", "purge_uniques"), "    FOR UPDATE OF i SKIP LOCKED\n", ""),
            Edit(sql("postgres", "purge_uniques"), "AND u.ctid = old.seen", ""),
        ),
        (RACES,),
    ),
    Mutant(
        "purged-while-they-are-entered",
        "a lane that somebody is entering is purged",
        (
            Edit(sql("postgres", "purge_lanes"), "    FOR UPDATE OF i SKIP LOCKED\n", ""),
            Edit(sql("postgres", "purge_lanes"), "AND l.ctid = old.seen", ""),
        ),
        (RACES,),
    ),
    Mutant(
        "moved-keys-are-lost",
        "a cancel by key that waits for a reschedule cancels the one that has the key no more",
        (
            Edit(
                "duly.store.methods.schedules.lock_schedule",
                "if schedule is not None and ref in (schedule.id, schedule.key):",
                "if schedule is not None:",
            ),
        ),
        (RACES,),
    ),
    Mutant(
        "purges-leave-what-just-ended",
        "a purge is over although a run has ended while it looked, and leaves that run behind",
        (Edit(sql("postgres", "anything_left"), "OR EXISTS (", "OR false AND EXISTS ("),),
        (RACES,),
    ),
    Mutant(
        "new-listeners-hear-nothing",
        "a topic's run ends for want of a listener although one has begun to listen",
        (Edit("duly.store.methods.topics.end_unheard_topics", "Hold.UNKNOWN_JOB", "None"),),
        (RACES,),
    ),
    Mutant(
        "stopped-schedules-try-again",
        "the run of a cancelled schedule that was being given back has another attempt",
        (Edit(sql("postgres", "lock_runs_of"), "FOR UPDATE", ""),),
        (RACES,),
    ),
    Mutant(
        "stopped-schedules-are-backfilled",
        "a backfill makes runs of a schedule that was cancelled, which no cancel ends",
        (Edit("duly.core.rules.backfilling.backfill_runs", "    check_backfill(schedule)\n", ""),),
        ((CONTRACT[0], "-k", "sqlite-memory and Backfilling"),),
    ),
    Mutant(
        "fires-wait-for-a-death",
        "a fire waits for who declares its session dead, who waits for a cursor that it holds",
        (Edit(sql("postgres", "grab_session"), " SKIP LOCKED", ""),),
        (("tests/store/postgres/test_crossings.py",),),
    ),
    Mutant(
        "looking-back-makes-ended-runs-again",
        "in a transaction of the caller's that looks at one moment all along, a run is made that has ended since",
        (Edit(sql("postgres", "probe_history"), "<> 'read committed'", "= 'never'"),),
        (BORROWED,),
    ),
    Mutant(
        "looking-back-decides",
        "a trigger in such a transaction does not know of the run that was made since, and makes a second one",
        (Edit(sql("postgres", "touch_cursors"), "= ANY (:ids::uuid[])", "= ANY (:ids::uuid[]) AND false"),),
        (BORROWED,),
    ),
    Mutant(
        "looking-back-waits",
        "in such a transaction a run waits for the end of one that has ended since, and nobody lets it go",
        (Edit(sql("postgres", "hold_deciding"), "<> 'read committed'", "= 'never'"),),
        (BORROWED,),
    ),
    Mutant(
        "looking-back-numbers-twice",
        "a signal in such a transaction takes a number that is taken, and fails without saying what to do",
        (Edit(sql("postgres", "put_messages"), "ON CONFLICT DO NOTHING", ""),),
        (BORROWED,),
    ),
    Mutant(
        "zombies-in-one-batch",
        "an older attempt that ends in the same batch as the newer one borrows its guard",
        (
            Edit(
                "duly.store.methods.settling.settle",
                "if len({s.claim.id for s in settlements}) == len(settlements):",
                "if True:",
            ),
        ),
        ((CONTRACT[0], "-k", "Zombies and (sqlite-memory or postgres)"),),
    ),
    Mutant(
        "given-back-by-the-hundred",
        "of many runs that go again at once, those after the first hundred are left in dead hands",
        (Edit("duly.store.methods.settling._Verdicts.write", "for part in parts))", "for part in parts[:1]))"),),
        ((CONTRACT[0], "-k", "sqlite-memory and TestSettling"),),
    ),
    Mutant(
        "any-success-is-mine",
        "an attempt is told that its success was kept, although it was a newer one's",
        (Edit(sql("sqlite", "settled_already"), "AND h.fence = n.fence ", ""),),
        ((CONTRACT[0], "-k", "sqlite-memory and Zombies"),),
    ),
    Mutant(
        "cancels-put-off",
        "a cancel that is asked for again and again is never enforced",
        (Edit(sql("sqlite", "request_cancels"), " AND cancel_at IS NULL", ""),),
        ((CONTRACT[0], "-k", "sqlite-memory and TestSettling"),),
    ),
    Mutant(
        "old-windows-in-new-hands",
        "a window whose run has ended is handed to an idle worker again",
        (Edit("duly.store.methods.firing.fire_due", " if run.id in tick.inserted]", "]"),),
        ((CONTRACT[0], "-k", "sqlite-memory and Guards"),),
    ),
    Mutant(
        "fences-stand-in-fair-queues",
        "a claim from a queue with an order of its own has the fence of the one before",
        (
            Edit(sql("sqlite", "claim_chosen"), "fence = fence + 1", "fence = fence"),
            Edit(sql("sqlite", "claim_newest"), "fence = fence + 1", "fence = fence"),
            Edit(sql("postgres", "claim_chosen"), "fence = r.fence + 1", "fence = r.fence"),
            Edit(sql("postgres", "claim_newest"), "fence = r.fence + 1", "fence = r.fence"),
        ),
        ((CONTRACT[0], "-k", "QueuesFence and (sqlite-memory or postgres)"),),
    ),
    Mutant(
        "begins-what-others-have",
        "a claim that is answered when the lease has run out is begun all the same",
        (
            Edit(
                "duly.engine.worker.Worker._start",
                "or self._draining or self._session() != session:",
                "or self._draining:",
            ),
        ),
        (("tests/engine/test_leases.py", "-k", "sqlite"),),
    ),
    Mutant(
        "claims-in-doubt",
        "a worker goes on claiming under a lease that it does not trust",
        (Edit("duly.engine.instance.Instance._build", "session=self._trusted_session", "session=self._session_now"),),
        (("tests/engine/test_leases.py", "-k", "sqlite"),),
    ),
    Mutant(
        "newer-claims-unseen",
        "an attempt does not learn that its run was claimed anew under its own session",
        (Edit("duly.engine.worker.Worker.heard", "elif run is None or run.fence != fence:", "elif run is None:"),),
        (("tests/engine/test_leases.py", "-k", "sqlite"),),
    ),
    Mutant(
        "ends-taken-for-leaks",
        "a run whose end is on its way is given back as one that leaked",
        (Edit("duly.engine.worker.Worker.heard", "            if run.id in ending:\n                continue\n", ""),),
        (("tests/engine/test_leases.py", "-k", "sqlite"),),
    ),
    Mutant(
        "unknown-is-done",
        "a settle of which nobody knows is taken for done",
        (
            Edit(
                "duly.engine.settler.Settler._write",
                "                strange += not",
                "                if isinstance(error, OutcomeUnknown):\n                    return\n"
                "                strange += not",
            ),
        ),
        (("tests/engine/test_leases.py", "-k", "sqlite"),),
    ),
    Mutant(
        "ends-beyond-a-batch",
        "of ends that are more than one batch, the rest is forgotten",
        (Edit("duly.engine.settler.Settler._flush", "self._waiting[LARGEST_BATCH:]", "[]"),),
        (("tests/engine/test_settler.py",),),
    ),
    Mutant(
        "old-news-kills",
        "a late word about a session that was lost ends the one after it",
        (
            Edit(
                "duly.engine.instance.Instance._session_lost",
                "        if session != self._session:\n            return\n        self._session = None",
                "        self._session = None",
            ),
        ),
        (("tests/engine/test_leases.py", "-k", "sqlite"),),
    ),
    Mutant(
        "no-beats-at-the-end",
        "heartbeats stop when the stop begins, and others take what winds down",
        (
            Edit(
                "duly.engine.instance.Instance.stop",
                "        await self._worker.drain(grace)\n",
                "        self._heartbeat_loop.stop()\n        await self._heartbeat.stop()\n"
                "        await self._worker.drain(grace)\n",
            ),
        ),
        (("tests/engine/test_stop.py", "-k", "sqlite"),),
    ),
    Mutant(
        "a-strange-error-ends-the-beats",
        "a beat that fails in a way that nobody foresaw is the last one",
        (
            Edit(
                "duly.engine.heartbeat.Heartbeat.beat_once",
                "        except Exception as error:  # noqa: BLE001",
                "        except DulyError as error:  # noqa: BLE001",
            ),
        ),
        (("tests/engine/test_heartbeat.py",),),
    ),
    Mutant(
        "recovers-while-it-should-hold",
        "recovery takes leases although another loop has seen the clock leap",
        (Edit("duly.engine.recovery.Recovery.run_once", "        if held > 0:", "        if held > 10**9:"),),
        (("tests/engine/test_jumps.py",),),
    ),
    Mutant(
        "recovery-rests-between-batches",
        "what was lost with many others waits for the next looks of recovery",
        (Edit("duly.engine.recovery.Recovery.run_once", "return 0 if taken.more else", "return"),),
        (("tests/engine/test_leases.py", "-k", "sqlite"),),
    ),
    Mutant(
        "nobody-hears-of-the-recovered",
        "a recovered run waits for a poll",
        (Edit("duly.engine.recovery.Recovery.run_once", "        if taken.runs:\n            self._on_runs()\n", ""),),
        (("tests/engine/test_leases.py", "-k", "sqlite"),),
    ),
    Mutant(
        "nobody-hears-of-the-fired",
        "a run that is not born claimed waits for a poll",
        (Edit("duly.engine.scheduler.Scheduler._tell", "            self._on_runs()\n", "            pass\n"),),
        (("tests/engine/test_scheduler.py", "-k", "sqlite"),),
    ),
    Mutant(
        "nobody-hears-of-the-released",
        "the next run of a lane waits for a poll",
        (
            Edit(
                "duly.engine.settler.Settler._write", "                self._on_released()\n", "                pass\n"
            ),
        ),
        (("tests/engine/test_scheduler.py", "-k", "sqlite"),),
    ),
    Mutant(
        "soon-is-the-next-poll",
        "a retry that is due before the next poll waits for it",
        (
            Edit(
                "duly.engine.worker.Worker.freed",
                "any(type(one.outcome) is not Completed and self._is_back_soon(one) for one in settlements)",
                "False",
            ),
        ),
        (("tests/engine/test_retries.py", "-k", "sqlite"),),
    ),
    Mutant(
        "due-windows-lost-to-the-line",
        "with catch-up all, a window that is only just due is skipped for the missed ones that run before it",
        (Edit("duly.core.rules.firing._deal", "step.missed or draft.is_of_the_line(step.window)", "step.missed"),),
        (("tests/core/rules/test_firing.py",),),
    ),
    Mutant(
        "a-line-without-end",
        "with catch-up all, a window waits in line for any run before it, so that skip becomes a queue",
        (
            Edit(
                "duly.core.rules.draft.Draft.is_of_the_line",
                "run.window_at < window and at <= run.fired_at",
                "run.window_at < window",
            ),
        ),
        (("tests/core/rules/test_firing.py",),),
    ),
    Mutant(
        "just-too-late",
        "a missed window that is just not too late is dropped with those before it",
        (
            Edit(
                "duly.core.rules.missed._drop_too_late",
                "windows.newest_until(since - 1), newest_missed)",
                "windows.newest_until(since), newest_missed)",
            ),
        ),
        (("tests/core/rules/test_firing.py",),),
    ),
    Mutant(
        "one-gives-up-all-hang",
        "a caller that gave up keeps the error of its batch from the others, who wait for ever",
        (
            Edit(
                "duly.runtime.batcher.Batcher._flush_one",
                "                if not future.done():\n                    future.set_exception(error)",
                "                future.set_exception(error)",
            ),
        ),
        (("tests/runtime/test_batcher.py",),),
    ),
    Mutant(
        "sessions-unheld",
        "a claim under way does not keep its session from being declared dead",
        (Edit(sql("postgres", "hold_session"), " FOR KEY SHARE", ""),),
        (("tests/store/postgres/test_guards.py",),),
    ),
    Mutant(
        "any-answer-to-a-commit-will-do",
        "a commit that the server answered with a rollback, or with a warning, is believed",
        (
            Edit(
                "duly.store.postgres.committing.Writing._end_commit",
                "if result.command_status != _COMMIT:",
                "if False:",
            ),
            Edit(
                "duly.store.postgres.committing.Writing._end_commit",
                "        if self._lent.warnings:\n",
                "        if False:\n",
            ),
        ),
        (("tests/store/postgres/test_outcomes.py", "-k", "answered"),),
    ),
    Mutant(
        "rolled-back-and-told-done",
        "calls are told that they were done although SQLite has rolled back the transaction that they shared",
        (Edit("duly.store.sqlite.writer.Writer._drain", "        elif not alone:\n", "        elif False:\n"),),
        (("tests/store/sqlite/test_writer.py",),),
    ),
    Mutant(
        "workflows-enqueued-as-jobs",
        "a run of a job is stored under the name of a workflow, and waits for ever",
        (Edit("duly.app.runs.Runs.request", "        check_runnable(name, self._registry)\n", ""),),
        (("tests/app/test_misuse.py", "-k", "sqlite and no_job"),),
    ),
)

RETIRED: dict[str, str] = {}
"""Mutants that cannot be tried any more, by name, with the reason. No name leaves this file."""
