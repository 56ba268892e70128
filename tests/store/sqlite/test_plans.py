"""Plans: the work of a statement grows with what it answers, never with what is stored."""

from collections.abc import Iterator
from typing import Any

import apsw
import pytest

from duly.store.narrowing import owned
from duly.store.sqlite.connecting import connect
from duly.store.sqlite.migrating import load_migrations
from duly.store.sqlite.statements import execute, load_statements
from duly.store.statements import Batch, Query, batch, columns, query
from duly.store.values import LONG_RESULT
from tests.acceptance.rules import rule
from tests.counting import at_least

SMALL = (
    "duly_meta",
    "duly_tenants",
    "duly_instances",
    "duly_leases",
    "duly_queues",
    "duly_keys",
    "duly_watch",
    "duly_overdue",
    "duly_event_handlers",
)
SELDOM = {
    "duly_runs_unknown",
    "duly_runs_suspects",
    "duly_events_new",
    "duly_operations_stops",
    "duly_runs_undated",  # walked to the first
    "duly_history_undated",
}
COUNTING = {"queue_figures", "purge_surplus", "any_open", "purge_ended_instances"}
"""Statements that walk over what they are asked to count: open runs, to the first; ended runs, to the number kept,
or all of them where sessions are old enough to be forgotten."""

STORED = 3_000
NO_FILTER = dict.fromkeys(("tenant", "owner", "job", "topic", "tag", "status", "enabled", "app", "q", "after", "upper"))
NO_RUN_FILTER = dict.fromkeys(("tenant", "schedule_id", "job", "workflow", "status"))
EVERY_UNDATED = NO_RUN_FILTER | {"at": 2**62, "id": "", "lower_at": 0, "lower_id": ""}
NO_DEAD_FILTER = dict.fromkeys(("tenant", "schedule_id", "job", "queue", "error", "error_type", "error_location"))
UNDATED_DEAD = NO_DEAD_FILTER | {"at": 2**62, "id": ""}


@pytest.fixture(scope="module")
def connection() -> Iterator[apsw.Connection]:
    connection = connect(":memory:", busy_timeout=1, cache_kib=2_000)
    for script in load_migrations().values():
        connection.execute(script)
    _fill(connection)
    yield connection
    connection.close()


@rule("S3.26")
@pytest.mark.parametrize("name", sorted(at_least(load_statements(), 293, "statements").keys() - COUNTING))
def test_no_statement_walks_a_big_table(connection: apsw.Connection, name: str) -> None:
    big = at_least(_big_tables(connection), 20, "big tables")
    for statement in at_least(load_statements()[name], 1, f"texts of {name}"):
        plan = connection.execute(f"EXPLAIN QUERY PLAN {statement.text}", [None] * len(statement.names)).fetchall()
        assert plan or not statement.text.lstrip().startswith("SELECT")
        aliases = _aliases(statement.text, big)
        for *_, line in plan:
            words = str(line).split()
            walks = words[0] == "SCAN" and words[1] in aliases and not SELDOM & set(words)
            assert not walks, f"{name}: {line}"


def _big_tables(connection: apsw.Connection) -> list[str]:
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'duly_*'")
    return [str(name) for (name,) in names if name not in SMALL]


def _aliases(text: str, tables: list[str]) -> set[str]:
    words = text.replace(",", " ").replace("(", " ").replace(")", " ").split()
    found = set(tables)
    for at, word in enumerate(words[:-2]):
        if word in tables and words[at + 1] == "AS":
            found.add(words[at + 2])
    return found


STEPS: list[tuple[str, Query | Batch, int]] = [
    ("due", query("due_cursors", now=5, limit=10), 10),
    ("nothing due", query("due_cursors", now=0, limit=10), 0),
    ("next fire", query("next_fire"), 1),
    ("next due", query("next_due", now=5), 1),
    ("lines", query("ready_lines"), 4),
    ("open runs", batch("open_runs", {"schedule_id": ["s0007", "s0008", "none"]}), 2),
    ("held", query("held_runs", session=1), 0),
    ("running", query("count_running", names=["q1", "q2"]), 0),
    ("lost", query("lost_runs", now=5, cancelled_before=0, limit=10), 0),
    ("unanswered", query("unanswered_runs", now=5, limit=10), 0),
    ("answerable", query("answerable_run", id="none", fence=1), 0),
    ("answered", query("answered_already", id="none", fence=1), 0),
    ("unknown", query("unknown_jobs", now=5), 0),
    ("adopt", query("adopt_jobs", jobs=["none", "topic:*"], limit=10), 0),
    ("adopt known", query("adopt_known_jobs", now=5, limit=10), 0),
    ("sleepers", query("wake_sleepers", now=5), 0),
    ("pauses", query("expired_pauses", now=5, limit=10), 0),
    ("pauses of these", query("expired_pauses_of", ids=["s0007", "s0008", "none"], now=5), 0),
    ("next end of a pause", query("next_pause_end", now=5), 1),
    ("purgeable", query("purgeable_schedules", ended_before=5, limit=10), 0),
    ("old history", query("purge_history", finished_before=5, limit=10, statuses=["completed"]), 0),
    ("declared", query("declared_schedules", app="none"), 0),
    ("by id", owned("find_schedule_id", ref="s0007", by_key=False, tenant=None), 1),
    ("by key", owned("find_schedule_id", ref="k7", by_key=True, tenant="a"), 0),
    ("by key anywhere", owned("find_schedule_id", ref="k7", by_key=True, tenant=None), 1),
    *(
        (f"list {filters}", owned("list_schedules", **{**NO_FILTER, **filters}, limit=10), rows)
        for filters, rows in (
            ({}, 10),
            ({"after": "s1500"}, 10),
            ({"tenant": "a"}, 10),
            ({"tenant": "rare"}, 1),
            ({"owner": "rare"}, 1),
            ({"owner": "rare", "tenant": "a"}, 0),
            ({"owner": "rare", "tenant": "rare"}, 1),
            ({"owner": "common"}, 10),
            ({"job": "rare"}, 1),
            ({"job": "common"}, 10),
            ({"job": "common", "tenant": "b", "after": "s1500"}, 10),
        )
    ),
    *(
        (
            f"runs {filters}",
            owned(
                "list_runs",
                **NO_RUN_FILTER | {"after": "02", "lower": None} | filters,
                long=LONG_RESULT,
                limit=10,
            ),
            rows,
        )
        for filters, rows in (
            ({}, 10),
            ({"schedule_id": "s0007"}, 2),
            ({"after": "01f0100"}, 10),
            ({"job": "none", "after": "01f0100", "lower": "01f0080"}, 0),
            ({"status": "failed", "after": "01e0100", "lower": "01e0080"}, 0),
        )
    ),
    *(
        (f"undated {filters}", owned("undated_runs", **EVERY_UNDATED | filters, limit=10), rows)
        for filters, rows in (
            ({}, 10),
            ({"schedule_id": "s0007"}, 1),
            ({"at": 1000, "id": "b1000"}, 10),
            ({"job": "none", "at": 1000, "lower_at": 980}, 0),
            ({"status": "failed", "at": 1000, "lower_at": 980}, 0),
        )
    ),
    *(
        (f"dead {filters}", owned("list_dead", **NO_DEAD_FILTER | {"after": "02"} | filters, limit=10), rows)
        for filters, rows in (({}, 2), ({"job": "rare"}, 1), ({"error": "luck"}, 2), ({"after": "01d0001"}, 1))
    ),
    *(
        (f"undated dead {filters}", owned("list_undated_dead", **UNDATED_DEAD | filters, limit=10), rows)
        for filters, rows in (({}, 2), ({"job": "rare"}, 1), ({"error": "luck"}, 2), ({"at": 1, "id": "d0001"}, 1))
    ),
    *(
        (f"search {filters}", owned("list_schedules", **{**NO_FILTER, **filters}, limit=10), 0)
        for filters in (
            {"q": "%nobody%", "upper": "s0030"},
            {"status": "failed", "after": "s1500", "upper": "s1530"},
            {"tag": "none", "upper": "s0030"},
            {"enabled": 0, "topic": "none", "upper": "s0030"},
            {"tenant": "a", "q": "%nobody%", "upper": "s0030"},
            {"tenant": "b", "status": "failed", "after": "s1500", "upper": "s1530"},
            {"tenant": "b", "job": "common", "tag": "none", "after": "s1500", "upper": "s1530"},
            {"job": "common", "enabled": 0, "upper": "s0020"},
        )
    ),
    *(
        (
            f"end of a page {asked}",
            owned("schedules_page_end", **{"tenant": None, "job": None, "most": 20} | asked),
            ends,
        )
        for asked, ends in (
            ({"after": "s0007"}, 1),
            ({"after": "s2990"}, 0),
            ({"after": None, "tenant": "a"}, 1),
            ({"after": "s1500", "tenant": "rare"}, 0),
            ({"after": "s0007", "tenant": "b", "job": "common"}, 1),
            ({"after": None, "tenant": "b", "job": "rare"}, 0),
            ({"after": "s0007", "job": "common"}, 1),
            ({"after": None, "job": "rare"}, 0),
            ({"after": None, "tenant": "a", "owner": "common"}, 0),
        )
    ),
    *(
        (f"end of a page {narrow}", owned("runs_page_end", after="02", at=2**62, id="", narrow=narrow, most=20), 1)
        for narrow in (True, False)
    ),
    ("coming", owned("list_upcoming", tenant=None, fire_at=1, slot=-1, after="", limit=10), 10),
    ("coming of", query("list_upcoming_of", tenant=None, owner="rare", fire_at=0, slot=-1, after="", limit=10), 1),
    ("fires", owned("count_fires", since=0, until=2**62, step=60_000, limit=10), 1),
    ("recent", query("count_recent", day=0, hour=0, ahead=1, limit=10), 1),
    ("outcomes", owned("recent_outcomes", ids=["s0007", "s0008", "none"], each=5), 2),
    ("minutes", query("count_minutes", since=0, until=180_000, limit=10), 3),
    ("lags", query("recent_lags", ahead=1, limit=10), 0),
    ("trouble", query("count_trouble", late_before=5, limit=10), 1),
    ("waiting", query("longest_waiting", limit=10, webhooks="target:webhook"), 1),
    ("died by", owned("find_dead", **NO_DEAD_FILTER, after=None, died_by=10, limit=10), 4),
    ("dead groups", owned("group_dead", **NO_DEAD_FILTER, limit=10), 2),
    ("of an owner by key", owned("find_schedule_id", ref="k7", by_key=True, tenant="rare", owner="rare"), 0),
    ("runs of an owner", owned("read_run", id="01f0100", tenant="rare", owner="rare"), 0),
    ("attempts of an owner", owned("read_attempts", id="01f0100", tenant="rare", owner="rare"), 0),
    ("count", query("count_owned", tenant="rare", owner="rare", limit=10), 1),
    ("keys", query("fair_keys", queue="fair", priority=0, least="", now=5, limit=10), 10),
    ("heads", query("fair_heads", queue="fair", priority=0, keys=["k1", "k2"], jobs=["j"], now=5, quota=3), 6),
    ("heads", query("fair_heads_newest", queue="fair", priority=0, keys=["k1", "none"], jobs=["j"], now=5, quota=3), 3),
    (
        "newest",
        query("claim_newest", queue="fair", priority=0, jobs=["j"], now=5, limit=10, session=1, deadline_grace=0),
        10,
    ),
    (
        "claim",
        query(
            "claim_ready",
            queue="q1",
            priority=1,
            jobs=["rare"],
            floor=0,
            now=5,
            limit=10,
            session=1,
            deadline_grace=0,
        ),
        0,
    ),
    (
        "claim above a floor",
        query(
            "claim_ready",
            queue="q0",
            priority=1,
            jobs=["rare"],
            floor=2,
            now=5,
            limit=10,
            session=1,
            deadline_grace=0,
        ),
        0,
    ),
    ("passed over", query("count_passed", queue="q0", priority=1, before=2, most=50), 1),
]


@rule("S3.35", "S4.44")
@pytest.mark.parametrize(("step", "rows"), [step[1:] for step in STEPS], ids=[step[0] for step in STEPS])
def test_the_work_grows_with_the_answer(connection: apsw.Connection, step: Query | Batch, rows: int) -> None:
    counted: list[int] = []

    def profile(event: Any) -> None:
        counted.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

    cursor = connection.cursor()
    connection.execute("BEGIN")
    connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, profile)
    try:
        answer = execute(cursor, step)
    finally:
        connection.trace_v2(0, None)
        connection.execute("ROLLBACK")
    assert len(answer) == rows
    assert sum(counted) < STORED, "fewer steps than rows stored: it cannot have walked them"


def _fill(connection: apsw.Connection) -> None:
    """Many schedules of two tenants with a run each, and one schedule that is alone in every respect."""
    cursor = connection.cursor()
    schedules = [_schedule(n) for n in range(STORED)]
    execute(cursor, batch("insert_schedules", columns(tuple(schedules[0]), [tuple(s.values()) for s in schedules])))
    for tenant in ("a", "b", "rare"):
        execute(cursor, query("take_slots", tenant=tenant, count=1))
    for n, schedule in enumerate(schedules):
        cursor.execute("INSERT INTO duly_revisions VALUES (?, 1, '{}', '{}', 1, NULL)", (schedule["id"],))
        cursor.execute(
            "INSERT INTO duly_cursors VALUES (?, 1, 'active', NULL, 1, ?, ?, 0, 0, NULL, NULL, ?)",
            (schedule["id"], 1 + n % 7, n, schedule["tenant"]),
        )
        cursor.execute(
            "INSERT INTO duly_runs (id, schedule_id, revision, kind, tenant, job, queue, priority, due_at, slot,"
            " max_attempts, fired_at) VALUES (?, ?, 1, 'window', '', 'common', ?, 1, ?, ?, 1, 1)",
            (f"01f{n:04}", schedule["id"], f"q{n % 3}", 6 if n % 3 == 1 else 1, n),
        )
        cursor.execute(
            "INSERT INTO duly_history (id, schedule_id, kind, tenant, job, queue, priority, status, attempt,"
            " max_attempts, fence, due_at, fired_at, finished_at)"
            " VALUES (?, ?, 'window', '', 'common', 'q', 1, 'completed', 1, 1, 1, 1, 1, 10)",
            (f"01e{n:04}", schedule["id"]),
        )
        cursor.execute(
            "INSERT INTO duly_runs (id, kind, tenant, job, queue, priority, due_at, slot, max_attempts, fired_at,"
            " fair_key) VALUES (?, 'direct', '', 'j', 'fair', 0, 1, 0, 1, 1, ?)",
            (f"c{n:04}", f"k{n % 50}"),
        )
        cursor.execute(
            "INSERT INTO duly_history (id, schedule_id, kind, tenant, job, queue, priority, status, attempt,"
            " max_attempts, fence, due_at, fired_at, finished_at)"
            " VALUES (?, ?, 'manual', '', 'common', 'q', 1, 'completed', 1, 1, 1, 1, ?, 10000)",
            (f"b{n:04}", schedule["id"], 10 + n),
        )
    for n, job in enumerate(("rare", "common")):
        for kind, id in (("direct", f"d{n:04}"), ("window", f"01d{n:04}")):
            cursor.execute(
                "INSERT INTO duly_history (id, kind, tenant, job, queue, priority, status, attempt,"
                " max_attempts, fence, due_at, fired_at, finished_at, error)"
                " VALUES (?, ?, '', ?, 'q', 1, 'failed', 1, 1, 1, 1, 1, 10, 'no luck')",
                (id, kind, job),
            )


def _schedule(n: int) -> dict[str, Any]:
    rare = n == STORED // 2
    given = {
        "id": f"s{n:04}",
        "key": f"k{n}",
        "name": "name",
        "tenant": "rare" if rare else "ab"[n % 2],
        "owner": "rare" if rare else "common",
        "job": "rare" if rare else "common",
        "tags": "[]",
        "revision": 1,
        "created_at": 1,
        "updated_at": 1,
        "kind": "cron",
    }
    (statement,) = load_statements()["insert_schedules"]
    return {name: given.get(name) for name in statement.row}
