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
        "Steps are recorded without checking the fence, also for an attempt that was declared dead.",
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
        "An all-or-nothing put of schedules stores those that were not rejected.",
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
        "A window's run gets a random id, so the store cannot reject the second one.",
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
        "A window whose run has ended fires again if its cursor points there.",
        (
            Edit(sql("sqlite", "insert_runs"), "WHERE NOT EXISTS", "WHERE true OR NOT EXISTS"),
            Edit(sql("postgres", "insert_runs"), "WHERE NOT EXISTS", "WHERE true OR NOT EXISTS"),
        ),
        ((CONTRACT[0], "-k", "Guards and (sqlite-memory or postgres)"),),
    ),
    Mutant(
        "blames-the-next",
        "A schedule that has moved on is deferred for an error of its previous fire.",
        (
            Edit(sql("sqlite", "set_aside"), " AND fire_at = :fire_at", ""),
            Edit(sql("postgres", "set_aside"), " AND fire_at = :fire_at::bigint", ""),
        ),
        ((CONTRACT[0], "-k", "(Guards or Repeating) and (sqlite-memory or postgres)"),),
    ),
    Mutant(
        "deadlines-left-behind",
        "After an attempt that ended unobserved, no timeout is enforced.",
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
        "A fire ignores open runs, whatever the overlap policy.",
        (Edit("duly.core.rules.overlap.heeds_open_runs", "return definition.has_width or", "return"),),
        ((CONTRACT[0], "-k", "sqlite-memory and Overlap"), ("tests/core/rules/test_overlap.py",)),
    ),
    Mutant(
        "no-fence",
        "A settle checks the run and the session, but not the fence.",
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
        "A settle is written whoever holds the run by now.",
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
        "A settle reads the fence without a lock and then writes without checking it.",
        (
            Edit(sql("postgres", "lock_runs"), "FOR UPDATE OF r", ""),
            Edit(
                sql("postgres", "complete_runs"),
                "DELETE FROM duly.duly_runs AS r\n    WHERE",
                "DELETE FROM duly.duly_runs AS held USING duly.duly_runs AS r\n    WHERE held.id = r.id AND",
            ),
            Edit(
                sql("postgres", "finish_runs"),
                "DELETE FROM duly.duly_runs AS r\n    WHERE",
                "DELETE FROM duly.duly_runs AS held USING duly.duly_runs AS r\n    WHERE held.id = r.id AND",
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
        "Ending a run of a singleton key reads the waiting runs without locking the lane.",
        (Edit(sql("postgres", "lock_lanes"), "FOR UPDATE", ""),),
        (("tests/store/postgres/test_guards.py",),),
    ),
    Mutant(
        "unique-identity",
        "Every request gets a unique key of its own.",
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
        "A remote worker's session ends with the process that served its first request.",
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
        "A report is accepted for any claim of the run that the session holds.",
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
        "A waiting claim notices new runs only at its next poll.",
        (Edit("duly.engine.instance.Instance.wake_worker", '            listener("runs")\n', "            pass\n"),),
        (("tests/api/test_worker.py", "-k", "woken and sqlite"),),
    ),
    Mutant(
        "two-transactions",
        "The runs are committed before the cursor moves.",
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
        "The runs are committed before the cursor moves, on PostgreSQL.",
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
        "Recorded steps are committed before the child runs that they start.",
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
        "Leases are compared with the local clock instead of the store's.",
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
        "A settle releases a lane without locking its cursor.",
        (Edit(sql("postgres", "lock_cursors"), "FOR UPDATE", ""),),
        (BESIDE_PG,),
    ),
    Mutant(
        "revived-session",
        "A heartbeat revives a session that was declared dead.",
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
        "The fence is the attempt number, which a release gives back.",
        (Edit(sql("sqlite", "claim_ready"), "fence = fence + 1", "fence = attempt + 1"),),
        (CONTRACT, SIMULATION),
    ),
    Mutant(
        "hanging-beat",
        "A hanging heartbeat does not end the trust in a lease; only a failing one does.",
        (Edit("duly.engine.heartbeat.Heartbeat.watch", "            self._on_distrust(session)\n", ""),),
        (("tests/engine/test_heartbeat.py", "tests/engine/test_leases.py", "-k", "sqlite or distrust"),),
    ),
    Mutant(
        "suspects-together",
        "Runs that were lost together with their process are claimed together again.",
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
        "A session that was declared dead goes on claiming.",
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
        "A redrive reads the dead run without locking it.",
        (Edit(sql("postgres", "lock_dead"), "FOR UPDATE", ""),),
        (REDRIVING_PG,),
    ),
    Mutant(
        "redrive-forgets-the-fence",
        "A redriven run starts with a new fence, so an earlier attempt can end it.",
        (
            Edit(
                sql("sqlite", "revive_runs"), "h.max_attempts, h.fence, h.timeout_ms", "h.max_attempts, 0, h.timeout_ms"
            ),
        ),
        (REDRIVING,),
    ),
    Mutant(
        "redrive-any-death",
        "A redrive applies to the run's present death, not to the one that was named.",
        (Edit("duly.store.methods.dead_letters._is_meant", "ref.fence in (None, run.fence)", "True"),),
        (REDRIVING,),
    ),
    Mutant(
        "handler-after-the-death",
        "The on_dead handler's run is created in a transaction after the one that ends the dead run.",
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
        "A cached calendar is never read again.",
        (Edit(sql("sqlite", "read_calendars"), " AND c.revision IS asked.revision", ""),),
        (CALENDARS,),
    ),
    Mutant(
        "calendar-by-revision-alone",
        "A calendar that was deleted and created again is taken for the old one.",
        (Edit(sql("sqlite", "read_calendars"), "c.id IS asked.id AND ", ""),),
        (CALENDARS,),
    ),
    Mutant(
        "calendar-not-held",
        "Creating a schedule does not lock its calendar, so a concurrent delete sees no use of it.",
        (Edit(sql("postgres", "hold_calendars"), "FOR KEY SHARE OF c", ""),),
        (CALENDARS_PG,),
    ),
    Mutant(
        "excluded-dates-across-a-change",
        "Excluded local dates are computed as if clocks never changed.",
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
        "An excluded due window counts as the catch-up of a missed one.",
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
        "A worker that was declared dead writes into its successor's record.",
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
        "A run suspends without checking for messages that its body has not seen.",
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
        "A step that has ended can be recorded again with another result.",
        (
            Edit(sql("sqlite", "put_steps"), "duly_steps.status = 'asked' OR", "true OR"),
            Edit(sql("postgres", "put_steps"), "duly_steps.status = 'asked' OR", "true OR"),
        ),
        (STEPS, STEPS_PG),
    ),
    Mutant(
        "events-forgotten",
        "One of the ways in which runs end records no event.",
        (Edit("duly.store.methods.telling.TOLD_BY", '    "end_waiting": _ended_waiting,\n', ""),),
        (("tests/store/test_telling.py",), ("tests/differential/test_events_agree.py", "-k", "sqlite")),
    ),
    Mutant(
        "event-numbers-unlocked",
        "Two readers number events at the same time.",
        (Edit(sql("postgres", "lock_watch"), "FOR UPDATE", ""),),
        ((BESIDE_PG[0], "-k", "postgres and number"),),
    ),
    Mutant(
        "unwatched-time-untold",
        "A watcher that returns after unwatched time gets no reset event.",
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
        "A client may take for ever to send its request headers.",
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
        "Pipelined requests are read into memory without a bound.",
        (Edit("duly.api.connection.Connection._hold", "held = bool(self.pipeline or self._unparsed)", "held = False"),),
        (("tests/serve/test_slow_clients.py", "-k", "ahead_are"),),
    ),
    Mutant(
        "nobody-makes-room",
        "Idle connections keep new ones out.",
        (Edit("duly.api.connection.Connection.connection_made", "            self._make_room()\n", ""),),
        (("tests/serve/test_slow_clients.py", "-k", "too_many"),),
    ),
    Mutant(
        "answers-are-waited-for",
        "A client that does not read its response is never disconnected.",
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
        "A new database file is readable by every user of the machine.",
        (Edit("duly.store.sqlite.connecting.connect", "    _create_for_us_alone(path)\n", ""),),
        (("tests/store/sqlite/test_connecting.py", "-k", "not_for_others"),),
    ),
    Mutant(
        "everybody-sees-everything",
        "An owner's queries are not restricted to the owner's objects.",
        (Edit("duly.store.narrowing._step", '"tenant": whose.tenant, "owner": whose.owner}', "}"),),
        (("tests/api/test_auth.py", "-k", "404 or list or many"),),
    ),
    Mutant(
        "operations-touch-everything",
        "An operation that the janitor continues is not restricted to its owner's objects.",
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
        "An API key is accepted by its id, without checking the secret.",
        (Edit("duly.app.credentials.Keys.caller", "or not right or not", "or not"),),
        (("tests/api/test_auth.py", "-k", "bad_key"),),
    ),
    Mutant(
        "no-scopes",
        "A credential may do everything, whatever its scopes.",
        (Edit("duly.api.auth.guard.Guard.admit", "if not caller.may(needed):", "if False:"),),
        (("tests/api/test_auth.py", "-k", "403"),),
    ),
    Mutant(
        "in-any-name",
        "An owner may create objects that belong to another.",
        (Edit("duly.app.owning.Owning._check", "if given and given != mine:", "if False:"),),
        (("tests/api/test_auth.py", "-k", "belongs_to_the_caller"),),
    ),
    Mutant(
        "tokens-as-they-come",
        "Time claims of a token are not validated.",
        (
            Edit(
                "duly.api.auth.jwt.Issuer._read", "if not all(_is_instant(at) for at in (exp, iat, nbf)):", "if False:"
            ),
        ),
        (("tests/api/test_jwt.py", "-k", "bad_tokens"),),
    ),
    Mutant(
        "term-unchecked",
        "A fire does not check that its instance still leads.",
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
        "A leader that cannot renew its lease still believes that it leads.",
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
        "A leader that stops does not release its lease.",
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
        "The audit does not report two rows of one window.",
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
        "The audit does not report windows without a row.",
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
        "The audit lets a pause last until its end was noticed.",
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
        "The audit does not compare a row's id with its window.",
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
        "A commit returns before the disk has it.",
        (Edit("duly.store.sqlite.connecting._set_up", '("synchronous", "FULL")', '("synchronous", "NORMAL")'),),
        (("tests/chaos/test_harness.py", "-k", "s03"),),
    ),
    Mutant(
        "no-guard-in-a-fleet",
        "A settle is written whoever holds the run by now, in real processes.",
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
        "A delivery counts as done although it was not confirmed.",
        (
            Edit(
                "duly.targets.delivering.Deliverer._outcome",
                'return Failed(f"{self._outlet.name}: {reason}", wait_ms=wait_ms, report=report)',
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
        "A repeated message carries its attempt number, so its body differs.",
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
        "A consumer acknowledges a message before its handler has returned.",
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
        "The trust in a lease and the timeout of an attempt follow the wall clock.",
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
        "An enqueue that is repeated after a lost response creates another run.",
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
        "A claim takes more runs than its limit.",
        (Edit(sql("postgres", "claim_ready"), "LIMIT :limit::bigint", "LIMIT :limit::bigint * 2"),),
        ((CONTRACT[0], "-k", "postgres and laim"),),
    ),
    Mutant(
        "no-jitter",
        "Runs that failed together are retried together.",
        (Edit("duly.core.rules.backoff.delay_ms", "if not retry.jitter:", "if True:"),),
        (("tests/core/rules/test_backoff.py",),),
    ),
    Mutant(
        "calls-without-an-end",
        "A call to a silent server waits for ever.",
        (Edit("duly.store.postgres.watchdog.Watchdog._guard", "                        watch.abort()\n", ""),),
        (("tests/store/postgres/test_outcomes.py", "-k", "silen"),),
    ),
    Mutant(
        "stops-without-giving-back",
        "An instance that stops keeps the runs that it cannot finish.",
        (Edit("duly.engine.worker.Worker.drain", "attempt.stop(Stop.SHUTDOWN)", "pass"),),
        (("tests/engine/test_stop.py", "-k", "sqlite"),),
    ),
    Mutant(
        "a-clock-in-the-where",
        "A claim reads the clock once per row, so no index serves it.",
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
        "A host name may lead a webhook to an internal address.",
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
        "Only the first address of a host name is checked.",
        (Edit("duly.core.endpoint.check_addresses", "for address in found:", "for address in found[:1]:"),),
        (("tests/targets/test_webhook.py", "-k", "w31"),),
    ),
    Mutant(
        "any-body-is-signed",
        "A signature does not cover the body.",
        (Edit("duly.core.signing._sign", ".encode() + body", ".encode()"),),
        (("tests/core/test_signing.py",),),
    ),
    Mutant(
        "webhooks-of-others",
        "A webhook is notified of schedules of other owners.",
        (Edit(sql("sqlite", "interested_in_schedules"), " AND (w.owner IS NULL OR w.owner = s.owner)", ""),),
        ((CONTRACT[0], "-k", "sqlite-memory and TellingWebhooks"),),
    ),
    Mutant(
        "owed-again-and-again",
        "An overdue fire is reported again at every check.",
        (Edit(sql("sqlite", "insert_overdue"), "ON CONFLICT DO NOTHING", "ON CONFLICT DO UPDATE SET since = since"),),
        ((CONTRACT[0], "-k", "sqlite-memory and TellingWebhooks"), ("tests/engine/test_auditor.py", "-k", "webhooks")),
    ),
    Mutant(
        "news-of-news",
        "Webhooks are notified of the runs that deliver notifications.",
        (Edit(sql("sqlite", "interested_in_runs"), "seen.job <> :job AND", ":job IS NOT NULL AND"),),
        ((CONTRACT[0], "-k", "sqlite-memory and TellingWebhooks"),),
    ),
    Mutant(
        "an-event-twice",
        "An event that is published again under its id counts as a new one.",
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
        "An event is added to a run that has already been attempted.",
        (Edit(sql("sqlite", "lock_gathered"), " AND fence = 0 AND claimed_by IS NULL", ""),),
        (ON_EVENT,),
    ),
    Mutant(
        "quiet-counts-from-the-first",
        "A debounced run starts although events still arrive.",
        (Edit("duly.core.on_event.add_event", "quiet_at = now + handler.quiet_ms", "quiet_at = so_far.due_at"),),
        (ON_EVENT,),
    ),
    Mutant(
        "a-child-that-nobody-knows",
        "A parent waits for ever for a child that no worker can run.",
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
        "A cancel does not reach the run that continues another.",
        (Edit("duly.app.runs.Runs.cancel", "(run is None or run.went_on)", "run is None"),),
        (("tests/workflow/test_long_waits.py", "-k", "sqlite and h13"),),
    ),
    Mutant(
        "one-unreadable-hides-all",
        "A schedule written by a newer version makes bulk operations fail.",
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
        "A start updates all runs that waited for its jobs in one statement.",
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
        "The janitor rests although more pauses have ended than one batch holds.",
        (Edit("duly.engine.janitor.Janitor._end_pauses", "if resumed == BATCH:", "if False:"),),
        (("tests/engine/test_janitor.py", "-k", "sqlite"),),
    ),
    Mutant(
        "a-batch-of-topics-every-heartbeat",
        "The janitor rests although topics without a listener are left.",
        (Edit("duly.engine.janitor.Janitor._tend", "return BATCH in (adopted, len(unheard))", "return False"),),
        (("tests/engine/test_janitor.py", "-k", "sqlite"),),
    ),
    Mutant(
        "changes-keep-a-pause-that-is-over",
        "A change skips the windows since the end of a pause that was not yet noticed.",
        (Edit("duly.store.methods.changes.end_pauses", "    if not over:\n", "    if True:\n"),),
        ((CONTRACT[0], "-k", "sqlite-memory and nobody_noticed"),),
    ),
    Mutant(
        "many-keep-a-pause-that-is-over",
        "A bulk pause keeps an expired pause, so the janitor resumes the schedules.",
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
        "A pause ends at the janitor's next round instead of on time.",
        (Edit("duly.engine.janitor.Janitor.run_once", "min(self._round_at, pause_ends_at)", "self._round_at"),),
        (("tests/engine/test_janitor.py", "-k", "sqlite"),),
    ),
    Mutant(
        "sure-of-a-commit-that-was-sent-along",
        "A commit whose response is lost is reported as not done.",
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
        "A rejected statement is reported as a commit with an unknown outcome.",
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
        "A transaction uses a guessed server time that is wrong.",
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
        "A guess is returned as the store's time, and errors based on one are final.",
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
        "A commit is sent on a connection that the server has closed.",
        (Edit("duly.store.postgres.committing.Writing._ask_last", "self._wire.check()", "pass"),),
        (("tests/store/postgres/test_outcomes.py", "-k", "died_while_idle"),),
    ),
    Mutant(
        "poolers-are-believed",
        "A pooler's error about its lost server counts as proof that nothing was committed.",
        (Edit("duly.store.postgres.committing._is_refused", "not code.startswith(_CONNECTION_LOST)", "True"),),
        (("tests/store/postgres/test_outcomes.py", "-k", "pooler"),),
    ),
    Mutant(
        "callers-take-the-engines-threads",
        "Callers that wait for a locked schedule delay fires, claims and settles.",
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
        "The time limit of a call does not include the wait for a thread.",
        (
            Edit(
                "duly.store.postgres.transactions.Transactions.run", "(now if called_at is None else called_at)", "now"
            ),
        ),
        (("tests/store/postgres/test_waiting.py", "-k", "limit"),),
    ),
    Mutant(
        "early-on-postgres",
        "A fire that arrives early does not wait for the server's clock, but uses its due time.",
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
        "A fire that arrives early runs at once.",
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
        "A jump of the store's clock expires every lease.",
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
        "Events of a transaction are written after its commit.",
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
        "A suspect starts before the end of the previous one is written, and is lost with it.",
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
        "The first queue of a priority may take all slots of a claim.",
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
        "A claim of one run always prefers the queue whose name sorts first.",
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
        "Slots that other queues leave free are not given to a queue with a backlog.",
        (Edit("duly.core.rules.fairness.shares", "            wanting.append(queue)\n", "            pass\n"),),
        (("tests/core/rules/test_fairness.py",), SHARES),
    ),
    Mutant(
        "asks-lines-that-are-not-due",
        "Queues whose runs are not due take a share and cost a statement each.",
        (Edit("duly.store.methods.claiming.claim_runs", "if line.first_due_at <= now", "if True"),),
        (("tests/costs/test_costs.py", "-k", "claim_4_of_20"),),
    ),
    Mutant(
        "no-floor",
        "Every claim scans all runs that wait for other workers.",
        (Edit("duly.store.methods.claiming._claim_ready", "floor=floor or GROUND", "floor=GROUND"),),
        (FLOORS,),
    ),
    Mutant(
        "floors-for-ever",
        "A run with an old due time is never found behind a backlog of another job.",
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
        "A run that is committed just after its due time is not found for seconds.",
        (Edit("duly.store.methods.claiming._look_back", "min(first_due_at, asking.now - MARGIN_MS)", "first_due_at"),),
        (FLOORS,),
    ),
    Mutant(
        "floors-hide-what-is-let-go",
        "The next run of a lane waits for seconds behind a backlog of another job.",
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
        "A claim scans from the head of its line and filters out what lies below the watermark.",
        (
            Edit(sql("sqlite", "claim_ready"), "due_at BETWEEN :floor", "due_at + 0 BETWEEN :floor"),
            Edit(sql("postgres", "claim_ready"), "due_at BETWEEN :floor", "due_at + 0 BETWEEN :floor"),
        ),
        (("tests/store/postgres/test_plans.py", "-k", "claim"), ("tests/store/sqlite/test_plans.py",)),
    ),
    Mutant(
        "fires-take-every-place",
        "Fires that fill every free slot starve enqueued runs.",
        (Edit("duly.engine.worker.Worker.reserve", "UNCLAIMED_POLLS * self._settings.poll", "10**9"),),
        (("tests/engine/test_queues.py",),),
    ),
    Mutant(
        "ended-runs-come-back",
        "An enqueue repeated while its run ends creates that run again.",
        (Edit(sql("postgres", "drop_returned"), "r.fence = 0", "r.fence < 0"),),
        (("tests/store/postgres/test_guards.py",),),
    ),
    Mutant(
        "ended-children-come-back",
        "A record repeated while its child ends creates that child again.",
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
        "A cancel misses the child that was recorded while it waited for a lock.",
        (Edit("duly.store.methods.runs._lock_below", "        found = {row[0] for row in rows}\n", "        pass\n"),),
        (FAMILIES,),
    ),
    Mutant(
        "redrives-miss-an-end",
        "A child's end is lost if its parent is redriven at the same time.",
        (Edit(sql("postgres", "lock_children"), "FOR UPDATE OF r", ""),),
        (FAMILIES,),
    ),
    Mutant(
        "dead-parents-hear-nothing",
        "A redriven parent never learns the result of a child that ended while it was dead.",
        (
            Edit(sql("postgres", "ended_children"), "c.position > 0", "c.position < 0"),
            Edit(sql("sqlite", "ended_children"), "c.position > 0", "c.position < 0"),
        ),
        (("tests/contract/test_store_contract.py", "-k", "was_dead_is_heard"),),
    ),
    Mutant(
        "families-in-any-order",
        "Two settles that end each other's children deadlock.",
        (Edit(sql("postgres", "lock_families"), "FOR UPDATE", ""),),
        (FAMILIES,),
    ),
    Mutant(
        "purged-while-they-begin",
        "A purge removes a request key that is being reused, so a repeat is executed again.",
        (Edit(sql("postgres", "purge_requests"), "  AND expires_at <= :now::bigint\nRETURNING", "RETURNING"),),
        (RACES,),
    ),
    Mutant(
        "purged-while-they-are-asked-for",
        "A purge removes a unique key that is being taken again.",
        (
            Edit(sql("postgres", "purge_uniques"), "    FOR UPDATE OF i SKIP LOCKED\n", ""),
            Edit(sql("postgres", "purge_uniques"), "AND u.ctid = old.seen", ""),
        ),
        (RACES,),
    ),
    Mutant(
        "purged-while-they-are-entered",
        "A purge removes a lane that a run is entering.",
        (
            Edit(sql("postgres", "purge_lanes"), "    FOR UPDATE OF i SKIP LOCKED\n", ""),
            Edit(sql("postgres", "purge_lanes"), "AND l.ctid = old.seen", ""),
        ),
        (RACES,),
    ),
    Mutant(
        "moved-keys-are-lost",
        "A cancel by key that waited for a reschedule cancels the schedule that no longer has the key.",
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
        "A purge finishes although a run ended meanwhile, and leaves it behind.",
        (Edit(sql("postgres", "anything_left"), "OR EXISTS (", "OR false AND EXISTS ("),),
        (RACES,),
    ),
    Mutant(
        "new-listeners-hear-nothing",
        "A topic's run ends for want of a listener although one has just subscribed.",
        (Edit("duly.store.methods.topics.end_unheard_topics", "Hold.UNKNOWN_JOB", "None"),),
        (RACES,),
    ),
    Mutant(
        "stopped-schedules-try-again",
        "A run of a cancelled schedule is retried if it was being released.",
        (Edit(sql("postgres", "lock_runs_of"), "FOR UPDATE", ""),),
        (RACES,),
    ),
    Mutant(
        "stopped-schedules-are-backfilled",
        "A backfill creates runs of a cancelled schedule.",
        (Edit("duly.core.rules.backfilling.backfill_runs", "    check_backfill(schedule)\n", ""),),
        ((CONTRACT[0], "-k", "sqlite-memory and Backfilling"),),
    ),
    Mutant(
        "fires-wait-for-a-death",
        "A fire and the expiry of its session deadlock.",
        (Edit(sql("postgres", "grab_session"), " SKIP LOCKED", ""),),
        (("tests/store/postgres/test_crossings.py",),),
    ),
    Mutant(
        "looking-back-makes-ended-runs-again",
        "In a caller's transaction with an older snapshot, an ended run is created again.",
        (Edit(sql("postgres", "probe_history"), "<> 'read committed'", "= 'never'"),),
        (BORROWED,),
    ),
    Mutant(
        "looking-back-decides",
        "A trigger in such a transaction misses a newer run and creates a second one.",
        (Edit(sql("postgres", "touch_cursors"), "= ANY (:ids::uuid[])", "= ANY (:ids::uuid[]) AND false"),),
        (BORROWED,),
    ),
    Mutant(
        "looking-back-waits",
        "A run created in such a transaction waits for one that has ended, and is never released.",
        (Edit(sql("postgres", "hold_deciding"), "<> 'read committed'", "= 'never'"),),
        (BORROWED,),
    ),
    Mutant(
        "looking-back-numbers-twice",
        "A signal in such a transaction takes a used number and fails without saying what to do.",
        (Edit(sql("postgres", "put_messages"), "ON CONFLICT DO NOTHING", ""),),
        (BORROWED,),
    ),
    Mutant(
        "zombies-in-one-batch",
        "An older attempt settled in the same batch as the newer one passes with its guard.",
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
        "Of many runs to requeue, only the first batch is.",
        (Edit("duly.store.methods.settling._Verdicts.write", "for part in parts))", "for part in parts[:1]))"),),
        ((CONTRACT[0], "-k", "sqlite-memory and TestSettling"),),
    ),
    Mutant(
        "any-success-is-mine",
        "An attempt is told that its success was kept, although a newer one's was.",
        (Edit(sql("sqlite", "settled_already"), "AND h.fence = n.fence ", ""),),
        ((CONTRACT[0], "-k", "sqlite-memory and Zombies"),),
    ),
    Mutant(
        "cancels-put-off",
        "Repeating a cancel request postpones its enforcement.",
        (Edit(sql("sqlite", "request_cancels"), " AND cancel_at IS NULL", ""),),
        ((CONTRACT[0], "-k", "sqlite-memory and TestSettling"),),
    ),
    Mutant(
        "old-windows-in-new-hands",
        "A window whose run has ended is handed to an idle worker again.",
        (Edit("duly.store.methods.firing.fire_due", " if run.id in tick.inserted]", "]"),),
        ((CONTRACT[0], "-k", "sqlite-memory and Guards"),),
    ),
    Mutant(
        "fences-stand-in-fair-queues",
        "A claim from an ordered queue does not raise the fence.",
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
        "A claim that returns after the lease ran out is started all the same.",
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
        "A worker goes on claiming under a lease that it does not trust.",
        (Edit("duly.engine.instance.Instance._build", "session=self._trusted_session", "session=self._session_now"),),
        (("tests/engine/test_leases.py", "-k", "sqlite"),),
    ),
    Mutant(
        "newer-claims-unseen",
        "An attempt does not notice that its run was claimed again under its own session.",
        (Edit("duly.engine.worker.Worker.heard", "elif run is None or run.fence != fence:", "elif run is None:"),),
        (("tests/engine/test_leases.py", "-k", "sqlite"),),
    ),
    Mutant(
        "ends-taken-for-leaks",
        "A run whose end is being written is released as leaked.",
        (Edit("duly.engine.worker.Worker.heard", "            if run.id in ending:\n                continue\n", ""),),
        (("tests/engine/test_leases.py", "-k", "sqlite"),),
    ),
    Mutant(
        "unknown-is-done",
        "A settle with an unknown outcome counts as done.",
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
        "Ends beyond one batch are dropped.",
        (Edit("duly.engine.settler.Settler._flush", "self._waiting[LARGEST_BATCH:]", "[]"),),
        (("tests/engine/test_settler.py",),),
    ),
    Mutant(
        "old-news-kills",
        "A late message about a lost session ends the session after it.",
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
        "Heartbeats stop when the stop begins, so others take runs that still finish.",
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
        "An unexpected error ends the heartbeat thread.",
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
        "Recovery expires leases although another loop has seen the clock jump.",
        (Edit("duly.engine.recovery.Recovery.run_once", "        if held > 0:", "        if held > 10**9:"),),
        (("tests/engine/test_jumps.py",),),
    ),
    Mutant(
        "recovery-rests-between-batches",
        "Of many lost runs, only one batch is recovered per round.",
        (Edit("duly.engine.recovery.Recovery.run_once", "return 0 if taken.more else", "return"),),
        (("tests/engine/test_leases.py", "-k", "sqlite"),),
    ),
    Mutant(
        "nobody-hears-of-the-recovered",
        "A recovered run waits for a poll.",
        (Edit("duly.engine.recovery.Recovery.run_once", "        if taken.runs:\n            self._on_runs()\n", ""),),
        (("tests/engine/test_leases.py", "-k", "sqlite"),),
    ),
    Mutant(
        "nobody-hears-of-the-fired",
        "A fired run that is not claimed at once waits for a poll.",
        (Edit("duly.engine.scheduler.Scheduler._tell", "            self._on_runs()\n", "            pass\n"),),
        (("tests/engine/test_scheduler.py", "-k", "sqlite"),),
    ),
    Mutant(
        "nobody-hears-of-the-released",
        "The next run of a lane waits for a poll.",
        (
            Edit(
                "duly.engine.settler.Settler._write", "                self._on_released()\n", "                pass\n"
            ),
        ),
        (("tests/engine/test_scheduler.py", "-k", "sqlite"),),
    ),
    Mutant(
        "soon-is-the-next-poll",
        "A retry that is due before the next poll waits for it.",
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
        "With catch-up all, a window that has just become due is skipped for the missed ones before it.",
        (Edit("duly.core.rules.firing._deal", "step.missed or draft.is_of_the_line(step.window)", "step.missed"),),
        (("tests/core/rules/test_firing.py",),),
    ),
    Mutant(
        "a-line-without-end",
        "With catch-up all, a window waits for any earlier run, which turns skip into queue.",
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
        "A missed window at the limit of lateness is dropped with those before it.",
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
        "A caller that gave up keeps its batch's error from the others, which wait for ever.",
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
        "A concurrent claim does not keep its session from being declared dead.",
        (Edit(sql("postgres", "hold_session"), " FOR KEY SHARE", ""),),
        (("tests/store/postgres/test_guards.py",),),
    ),
    Mutant(
        "any-answer-to-a-commit-will-do",
        "A commit that the server answered with a rollback or a warning counts as done.",
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
        "Calls return success although SQLite has rolled back their shared transaction.",
        (Edit("duly.store.sqlite.writer.Writer._drain", "        elif not alone:\n", "        elif False:\n"),),
        (("tests/store/sqlite/test_writer.py",),),
    ),
    Mutant(
        "workflows-enqueued-as-jobs",
        "A job's run is stored under a workflow's name and waits for ever.",
        (Edit("duly.app.runs.Runs.request", "        check_runnable(name, self._registry)\n", ""),),
        (("tests/app/test_misuse.py", "-k", "sqlite and no_job"),),
    ),
)

RETIRED: dict[str, str] = {}
"""Mutants that can no longer be tried, by name, with the reason. A name is never removed from this file."""
