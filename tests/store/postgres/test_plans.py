"""The work of a statement grows with what it answers, never with what is stored.

Every plan is looked at twice: as the planner makes it for these values with its own settings, and as the one plan for
all values that a prepared statement ends up with, under the settings of our transactions.
"""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from duly.core.positions import CEILING
from duly.store.postgres.arrays import encode
from duly.store.postgres.driver import PostgresDriver
from duly.store.postgres.limits import Limits
from duly.store.postgres.texts import Statement, fill_in, load_queries, load_transactions
from tests.acceptance.rules import rule
from tests.counting import at_least
from tests.databases import fresh_database

pytestmark = pytest.mark.timeout(900)  # the first test waits for a hundred thousand rows of everything

MANY = 100_000
NOW = 1_800_000_000_000

FILL = f"""
INSERT INTO duly.duly_tenants SELECT 't' || n, 1000 FROM generate_series(0, 99) AS n;
INSERT INTO duly.duly_schedules (id, key, name, tenant, owner, tags, revision, created_at, updated_at, kind, job)
SELECT lpad(to_hex(n), 32, '0')::uuid, 'key' || n, 'name' || n, 't' || n % 100, 'owner' || n % 1000, '["a"]', 1, 1, 1,
    'cron', 'job' || n % 5000
FROM generate_series(1, {MANY}) AS n;
INSERT INTO duly.duly_revisions SELECT id, 1, '{{}}', '{{}}', 1, NULL FROM duly.duly_schedules;
INSERT INTO duly.duly_cursors (schedule_id, revision, status, fire_at, slot, fired, failures, tenant)
SELECT id, 1, 'active', {NOW} + (row_number() OVER (ORDER BY random()) - 1000) * 1000, 1, 0, 0, tenant
FROM duly.duly_schedules;
INSERT INTO duly.duly_runs (
    id, schedule_id, revision, kind, tenant, job, queue, priority, due_at, slot, max_attempts, fired_at, claimed_by
)
SELECT (lpad(to_hex({NOW} + n * 1000), 12, '0') || right(md5(n::text), 20))::uuid,
    CASE WHEN n % 2 = 0 THEN lpad(to_hex(n), 32, '0')::uuid END, 1, 'window', 't' || n % 100,
    'job' || n % 500, 'queue' || n % 3, n % 2, {NOW} + (n - 50000) * 100, n, 3, {NOW},
    CASE WHEN n % 100 = 0 THEN n % 10 END
FROM generate_series(1, {MANY}) AS n;
INSERT INTO duly.duly_runs (
    id, kind, tenant, job, queue, priority, due_at, slot, max_attempts, fired_at, fair_key
)
SELECT gen_random_uuid(), 'direct', 't' || n % 1000, 'job1', 'fair', 0, {NOW} + (n - 50000) * 100, 0, 3, {NOW},
    't' || n % 1000
FROM generate_series(1, {MANY}) AS n;
INSERT INTO duly.duly_queues (name, governed, used, fair, updated_at) VALUES ('fair', true, 0, true, {NOW});
INSERT INTO duly.duly_history (
    id, schedule_id, kind, tenant, job, queue, priority, status, attempt, max_attempts, fence, due_at, fired_at,
    finished_at
)
SELECT (lpad(to_hex({NOW} + n * 1000), 12, '0') || right(md5(n::text), 20))::uuid,
    lpad(to_hex(n % 1000 + 1), 32, '0')::uuid, 'window', 't1', 'job1', 'queue1', 0, 'completed', 1, 3, 1,
    {NOW}, {NOW}, {NOW}
FROM generate_series(1, {MANY}) AS n;
INSERT INTO duly.duly_history (
    id, schedule_id, kind, tenant, job, queue, priority, status, attempt, max_attempts, fence, due_at, fired_at,
    finished_at, error
)
SELECT (lpad(to_hex({NOW} + n), 12, '0') || right(md5('d' || n), 20))::uuid, lpad(to_hex(n), 32, '0')::uuid,
    'window', 't1', 'job' || n, 'queue1', 0, 'failed', 1, 3, 1, {NOW}, {NOW}, {NOW}, 'no luck'
FROM generate_series(1, 1000) AS n;
INSERT INTO duly.duly_history (
    id, schedule_id, kind, window_at, tenant, job, queue, priority, status, attempt, max_attempts, fence, due_at,
    fired_at, finished_at, error
)
SELECT gen_random_uuid(), CASE WHEN n % 2 = 0 THEN lpad(to_hex(n % 1000), 32, '0')::uuid END, 'direct', {NOW} + n, 't1',
    'job' || n % 100, 'queue1', 0, CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'completed' END, 1, 3, 1, {NOW}, {NOW},
    {NOW} + n, 'no luck'
FROM generate_series(1, {MANY}) AS n;
INSERT INTO duly.duly_attempts SELECT id, 1, 1, 'failed', 'no luck', 1, 1, 1 FROM duly.duly_history LIMIT 10000;
INSERT INTO duly.duly_redrives SELECT id, 1, 1, NULL, gen_random_uuid() FROM duly.duly_history LIMIT 10000;
INSERT INTO duly.duly_owners SELECT id, 'owner7' FROM duly.duly_history LIMIT 10000;
INSERT INTO duly.duly_marks SELECT id, 'amount' || row_number() OVER () % 100, '5' FROM duly.duly_history;
INSERT INTO duly.duly_marks SELECT id, '#vip', 'null' FROM duly.duly_history LIMIT 50000;
INSERT INTO duly.duly_steps (run_id, position, kind, name, status, attempt, asked_at)
SELECT gen_random_uuid(), 1, 'event', 'e' || n % 1000, 'asked', 0, 1 FROM generate_series(1, 20000) AS n;
INSERT INTO duly.duly_event_handlers SELECT 'e' || n % 1000, 'job' || n, 'q', 1 FROM generate_series(1, 20000) AS n;
INSERT INTO duly.duly_event_ids SELECT 't1', '', 'i' || n, {NOW} + n * 1000 FROM generate_series(-100, 20000) AS n;
INSERT INTO duly.duly_gatherings
SELECT 'e', 'job' || n, 't', '', gen_random_uuid(), 1, {NOW} + n * 1000 FROM generate_series(-100, 20000) AS n;
INSERT INTO duly.duly_instances VALUES (1, 'a', 'h', 1, '[]', '1', '1', '[]', 1, 1);
ANALYZE
"""

SET_OUT = fill_in(load_transactions()["set_out"], Limits().in_ms()).replace(":guess", "NULL")
BEGIN = f"{load_transactions()['begin_write']}; {SET_OUT}".encode()
SOME = [f"{n:032x}" for n in (5, 500, 50_000)]
ANYBODYS = {"tenant": None, "owner": None}
NO_FILTER = dict.fromkeys(
    "tenant owner job topic tag status enabled app q after upper schedule_id workflow lower long".split()
)


@pytest.fixture(scope="module")
def filled(postgres_url: str) -> Iterator[psycopg.Connection]:
    """A connection to a database with a hundred thousand of everything."""
    with fresh_database(postgres_url) as url:
        driver = PostgresDriver(url)
        driver.open_sync()
        driver.close_sync()
        with psycopg.connect(url, autocommit=True, prepare_threshold=None) as connection:
            leave_alone(connection)
            for statement in FILL.split(";"):
                connection.execute(statement.encode())
            yield connection


@pytest.fixture(scope="module")
def unseen(postgres_url: str) -> Iterator[str]:
    """A database that nothing was ever stored in, of which the server knows nothing."""
    with fresh_database(postgres_url) as url:
        driver = PostgresDriver(url)
        driver.open_sync()
        driver.close_sync()
        with psycopg.connect(url, autocommit=True) as connection:
            leave_alone(connection)
        yield url


def leave_alone(connection: psycopg.Connection) -> None:
    """Let no vacuum come between: with other statistics there may be other plans."""
    tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    for (table,) in tables:
        connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)".encode())


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes(part)


def own_plan(connection: psycopg.Connection, name: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    """The plan for these values under the settings of our transactions."""
    connection.execute(BEGIN)
    try:
        return custom_plan(connection, name, values)
    finally:
        connection.execute("ROLLBACK")


def custom_plan(connection: psycopg.Connection, name: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    """The plan for these values under the server's settings."""
    text = b"EXPLAIN (FORMAT JSON) " + load_queries()[name].text
    row = connection.execute(text, {key: encode(value) for key, value in values.items()}, prepare=False).fetchone()
    assert row is not None
    return list(nodes(row[0][0]["Plan"]))


def generic_plan(connection: psycopg.Connection, name: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    """The plan for all values under the settings of our transactions."""
    return plan_for_all(connection, load_queries()[name], values)


def plan_for_all(connection: psycopg.Connection, statement: Statement, values: dict[str, Any]) -> list[dict[str, Any]]:
    given = ", ".join("NULL" if values[key] is None else f"'{encode(values[key])}'" for key in statement.names)
    connection.execute(BEGIN)
    try:
        connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        connection.execute(b"PREPARE looked_at AS " + statement.numbered)
        execute = f"EXECUTE looked_at ({given})" if given else "EXECUTE looked_at"
        row = connection.execute(f"EXPLAIN (FORMAT JSON) {execute}".encode()).fetchone()
    finally:
        connection.execute("ROLLBACK")
        connection.execute("DEALLOCATE ALL")
    assert row is not None
    plan = row[0]
    return list(nodes((plan if isinstance(plan, list) else json.loads(plan))[0]["Plan"]))


PREPARED: dict[str, tuple[dict[str, Any], str]] = {
    "due_cursors": ({"now": NOW, "limit": 500}, "duly_cursors_due"),
    "next_fire": ({}, "duly_cursors_due"),
    "open_runs": ({"schedule_id": SOME}, "duly_runs_open"),
    "ready_lines": ({}, "duly_runs_ready"),
    "next_due": ({"now": NOW}, "duly_runs_ready"),
    "count_load": ({"now": NOW, "limit": 10_000}, "duly_runs_ready"),
    "claim_ready": (
        {
            "queue": "queue1", "priority": 1, "jobs": ["job1", "job3"], "floor": 0, "now": NOW, "limit": 500,
            "session": 1, "deadline_grace": 1,
        },
        "duly_runs_ready",
    ),
    "claim_newest": (
        {
            "queue": "queue1", "priority": 1, "jobs": ["job1", "job3"], "now": NOW, "limit": 500, "session": 1,
            "deadline_grace": 1,
        },
        "duly_runs_ready",
    ),
    "count_passed": ({"queue": "queue1", "priority": 1, "before": NOW, "most": 1000}, "duly_runs_ready"),
    "fair_keys": ({"queue": "fair", "priority": 0, "least": "", "now": NOW, "limit": 64}, "duly_runs_fair"),
    "fair_heads": (
        {"queue": "fair", "priority": 0, "keys": ["t1", "t2"], "jobs": ["job1"], "now": NOW, "quota": 3},
        "duly_runs_fair",
    ),
    "fair_heads_newest": (
        {"queue": "fair", "priority": 0, "keys": ["t1", "t2"], "jobs": ["job1"], "now": NOW, "quota": 3},
        "duly_runs_fair",
    ),
    "claim_chosen": ({"ids": SOME, "now": NOW, "session": 1, "deadline_grace": 1}, "duly_runs_pkey"),
    "waiting_suspects": (
        {"queue": "queue1", "priority": 1, "jobs": ["job1", "job3"], "now": NOW, "limit": 5},
        "duly_runs_suspects",
    ),
    "claim_suspects": ({"ids": SOME, "now": NOW, "session": 1, "deadline_grace": 1}, "duly_runs_suspects"),
    "complete_runs": (
        {"id": SOME, "fence": [1, 1, 1], "session": [1, 1, 1], "result": [None] * 3, "reason": [None] * 3, "now": NOW},
        "duly_runs_pkey",
    ),
    "return_runs": (
        {
            "id": SOME, "fence": [1, 1, 1], "session": [1, 1, 1], "max_attempts": [3] * 3, "due_at": [1] * 3,
            "attempt": [1] * 3, "hold": [None] * 3,
        },
        "duly_runs_pkey",
    ),
    "lock_cursors": ({"ids": SOME}, "duly_cursors_pkey"),
    "read_schedules": ({"ids": SOME, **ANYBODYS}, "duly_schedules_pkey"),
    "read_revisions": ({"schedule_id": SOME, "revision": [1, 1, 1]}, "duly_revisions_pkey"),
    "read_run": ({"id": "00000000-0000-0000-0000-000000000001", **ANYBODYS}, "duly_history_pkey"),
    "read_attempts": ({"id": "00000000-0000-0000-0000-000000000001", **ANYBODYS}, "duly_attempts_pkey"),
    "lock_dead": ({"ids": SOME, **ANYBODYS}, "duly_history_pkey"),
    "read_redrives": ({"ids": SOME, **ANYBODYS}, "duly_redrives_pkey"),
    "revive_runs": (
        {"id": SOME, "fence": [1] * 3, "slot": [1] * 3, "hold": [0] * 3, "lane": [None] * 3, "now": NOW},
        "duly_history_pkey",
    ),
    "marked_equal": ({"name": "#vip", "value": "null", "after": None, "limit": 1000}, "duly_marks_value"),
    "marked_named": ({"name": "amount7", "after": None, "limit": 1000}, "duly_marks_name"),
    "read_marks": ({"ids": SOME}, "duly_marks_pkey"),
    "list_chosen_runs": ({"ids": SOME, **NO_FILTER}, "duly_history_pkey"),
    "acknowledge_dead": ({"id": SOME, "fence": [1] * 3, "now": NOW}, "duly_history_dead"),
    "held_runs": ({"session": 3}, "duly_runs_held"),
    "count_running": ({"names": ["queue1", "queue2"]}, "duly_runs_held"),
    "lost_runs": ({"now": NOW, "cancelled_before": NOW, "limit": 100}, "duly_runs_held"),
    "unanswered_runs": ({"now": NOW, "limit": 10}, "duly_runs_unanswered"),
    "answerable_run": ({"id": SOME[0], "fence": 1}, "duly_runs_pkey"),
    "begin_answer": ({"id": SOME[0], "fence": 1, "now": NOW, "answer_by": NOW}, "duly_runs_pkey"),
    "answered_already": ({"id": SOME[0], "fence": 1}, "duly_history_pkey"),
    "unknown_jobs": ({"now": NOW}, "duly_runs_unknown"),
    "adopt_jobs": ({"jobs": ["j1", "topic:*"], "limit": 10}, "duly_runs_unknown"),
    "adopt_known_jobs": ({"now": NOW, "limit": 10}, "duly_runs_unknown"),
    "expired_pauses": ({"now": NOW, "limit": 10}, "duly_schedules_pause"),
    "expired_pauses_of": ({"ids": SOME, "now": NOW}, "duly_schedules_pkey"),
    "next_pause_end": ({"now": NOW}, "duly_schedules_pause"),
    "purge_surplus": ({"status": "completed", "keep": 5, "limit": 10}, "duly_history_pkey"),
    "purge_history": ({"finished_before": NOW, "limit": 10, "statuses": ["completed"]}, "duly_history_pkey"),
    "event_waiters": ({"name": "e", **ANYBODYS}, "duly_steps_events"),
    "lock_gathered": ({"ids": SOME, "now": NOW}, "duly_runs_pkey"),
    "move_gathered": ({"id": SOME, "payload": ["1"] * 3, "due_at": [NOW] * 3}, "duly_runs_pkey"),
    "event_handlers": ({"event": "e1"}, "duly_event_handlers_pkey"),
    "purge_event_ids": ({"now": NOW, "limit": 10}, "duly_event_ids_expiry"),
    "purge_gatherings": ({"before": NOW, "limit": 10}, "duly_gatherings_at"),
    "seen_request": ({"tenant": "t1", "client_request_id": "x", "owner": None}, "duly_schedules_client_request"),
    "find_client_request": ({"tenant": "t1", "client_request_id": "x"}, "duly_schedules_client_request"),
}  # fmt: skip
SMALL = {"duly_meta", "duly_tenants", "duly_instances", "duly_ended_instances", "duly_queues"}


def check(plan: list[dict[str, Any]], index: str) -> None:
    walked = [node["Relation Name"] for node in plan if node["Node Type"] == "Seq Scan"]
    assert not set(walked) - SMALL, walked
    assert index in {node.get("Index Name") for node in plan}


@rule("S3.26", "S4.44")
@pytest.mark.parametrize("name", at_least(sorted(PREPARED), 53, "statements with an index"))
def test_a_plan_for_given_values_uses_its_index(filled: psycopg.Connection, name: str):
    values, index = PREPARED[name]
    check(custom_plan(filled, name, values), index)


@pytest.mark.parametrize("name", at_least(sorted(PREPARED), 53, "statements with an index"))
def test_the_plan_for_all_values_uses_its_index(filled: psycopg.Connection, name: str):
    values, index = PREPARED[name]
    check(generic_plan(filled, name, values), index)


def walks(plan: list[dict[str, Any]], few: set[str]) -> list[dict[str, Any]]:
    """What is looked at as a whole, table or index, but for tables of which there are few rows."""
    scans = [node for node in plan if "Relation Name" in node and "Scan" in node["Node Type"]]
    return [node for node in scans if node["Relation Name"] not in few and "Index Cond" not in node]


@pytest.mark.parametrize(
    "name", at_least(sorted(name for name, found in load_queries().items() if found.one), 60, "statements for one row")
)
def test_the_text_for_one_row_walks_over_no_table_and_no_index(filled: psycopg.Connection, name: str):
    single = load_queries()[name].one
    assert single is not None
    plan = plan_for_all(filled, single, dict.fromkeys(single.names))
    assert walks(plan, SMALL | {"duly_webhooks", "duly_interests"}) == []


@pytest.mark.parametrize(
    "name", ["find_schedule_id", "read_schedules", "pause_schedules", "expired_pauses_of", "claim_chosen"]
)
def test_an_id_is_found_by_itself_also_by_a_plan_of_the_days_when_the_store_was_empty(unseen: str, name: str):
    """Such a plan stays until the table is analyzed, however many rows are stored meanwhile."""
    with psycopg.connect(unseen, autocommit=True, prepare_threshold=None) as connection:
        plan = plan_for_all(connection, load_queries()[name], dict.fromkeys(load_queries()[name].names))
    assert walks(plan, SMALL) == []


@pytest.mark.parametrize("planned", [own_plan, generic_plan])
@pytest.mark.parametrize(
    "name, column", [("due_cursors", "fire_at"), ("claim_ready", "due_at"), ("next_due", "due_at")]
)
def test_now_bounds_the_scan_and_filters_nothing(filled: psycopg.Connection, planned, name: str, column: str):
    values, index = PREPARED[name]
    plan = planned(filled, name, values)
    scans = [node for node in plan if node.get("Index Name") == index]
    assert any(column in node.get("Index Cond", "") for node in scans)
    assert not any(column in node.get("Filter", "") for node in scans)
    assert "Sort" not in {node["Node Type"] for node in plan}


@rule("S3.26")
@pytest.mark.parametrize(
    "filters, index",
    [
        ({}, "duly_schedules_pkey"),
        ({"after": "00000000-0000-0000-0000-00000000c350"}, "duly_schedules_pkey"),
        ({"tenant": "t7", "owner": "owner107"}, "duly_schedules_owner"),
        ({"owner": "owner107"}, "duly_schedules_owner"),
        ({"tenant": "t7", "job": "job7"}, "duly_schedules_job"),
        ({"job": "job7"}, "duly_schedules_job"),
    ],
)
def test_a_page_of_schedules_is_read_from_an_index(filled: psycopg.Connection, filters: dict[str, Any], index: str):
    check(custom_plan(filled, "list_schedules", NO_FILTER | filters | {"limit": 51}), index)


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"after": "01a31a9f-0000-0000-0000-00000000c350"},
        {"job": "job7"},
        {"tenant": "t1", "error": "luck"},
        {"tenant": "t1", "owner": "owner7"},
    ],
)
@pytest.mark.parametrize("name, words", [("list_dead", {"after": CEILING}), ("find_dead", {"died_by": NOW})])
def test_the_dead_are_found_among_the_dead(
    filled: psycopg.Connection, name: str, words: dict[str, Any], filters: dict[str, Any]
):
    asked = (
        dict.fromkeys("tenant owner schedule_id job queue error error_type error_location after".split())
        | words
        | filters
        | {"limit": 51}
    )
    check(custom_plan(filled, name, asked), "duly_history_dead")


@pytest.mark.parametrize(
    "filters",
    [{}, {"at": NOW}, {"job": "job7"}, {"tenant": "t1", "error": "luck"}, {"tenant": "t1", "owner": "owner7"}],
)
def test_the_undated_dead_are_found_among_themselves(filled: psycopg.Connection, filters: dict[str, Any]):
    asked = dict.fromkeys("tenant owner schedule_id job queue error error_type error_location".split())
    asked |= {"at": 2**62, "id": CEILING, "limit": 51} | filters
    check(custom_plan(filled, "list_undated_dead", asked), "duly_history_undated_dead")


@pytest.mark.parametrize(
    "filters, indexes",
    [
        ({}, {"duly_runs_undated", "duly_history_undated"}),
        ({"at": NOW, "lower_at": NOW - 9}, {"duly_runs_undated", "duly_history_undated"}),
        ({"schedule_id": "00000000-0000-0000-0000-000000000064"}, {"duly_runs_open", "duly_history_undated_of"}),
        ({"tenant": "t1", "owner": "owner7"}, {"duly_runs_undated", "duly_history_undated"}),
    ],
)
def test_a_page_of_undated_runs_is_read_from_indexes(
    filled: psycopg.Connection, filters: dict[str, Any], indexes: set[str]
):
    every = {"at": 2**62, "id": CEILING, "lower_at": 0, "lower_id": "0" * 32, "limit": 51}
    plan = custom_plan(filled, "undated_runs", NO_FILTER | every | filters)
    for index in indexes:
        check(plan, index)
    assert "Sort" not in {node["Node Type"] for node in plan} or "schedule_id" in filters


@pytest.mark.parametrize("name", ["undated_runs", "runs_page_end", "list_undated_dead"])
def test_a_page_among_undated_runs_of_one_instant_begins_at_its_id(filled: psycopg.Connection, name: str):
    filters = NO_FILTER | dict.fromkeys("queue error error_type error_location".split())
    asked = filters | RUNS_END | {"at": NOW, "id": CEILING, "lower_at": 0, "lower_id": "0" * 32, "limit": 51}
    plan = custom_plan(filled, name, asked)
    begun = [node for node in plan if "_undated" in node.get("Index Name", "") and "Index Cond" in node]
    assert begun
    assert all("ROW(" in node["Index Cond"] for node in begun), begun


@pytest.mark.parametrize("narrow", [True, False])
def test_the_end_of_a_page_of_runs_is_found_by_so_many_looks(filled: psycopg.Connection, narrow: bool):
    _, looked_at = visited(filled, "runs_page_end", RUNS_END | {"narrow": narrow, "most": 500})
    assert looked_at <= 4 * 501 + 20


@rule("S3.35")
@pytest.mark.parametrize(
    "filters, indexes",
    [
        ({}, {"duly_runs_pkey", "duly_history_pkey"}),
        ({"after": "01a31a9f-0000-0000-0000-00000000c350"}, {"duly_runs_pkey", "duly_history_pkey"}),
        ({"schedule_id": "00000000-0000-0000-0000-000000000064"}, {"duly_runs_open", "duly_history_by_schedule"}),
        ({"tenant": "t1", "owner": "owner7"}, {"duly_runs_pkey", "duly_history_pkey"}),
    ],
)
def test_a_page_of_runs_is_read_from_indexes(filled: psycopg.Connection, filters: dict[str, Any], indexes: set[str]):
    plan = custom_plan(filled, "list_runs", NO_FILTER | {"after": CEILING} | filters | {"limit": 51})
    for index in indexes:
        check(plan, index)


@pytest.mark.parametrize("filters", [{"q": "%nobody%"}, {"status": "failed"}, {"tag": "none"}, {"enabled": False}])
@pytest.mark.parametrize("after", [None, "00000000-0000-0000-0000-00000000c350"])
def test_a_search_looks_no_further_than_its_page(
    filled: psycopg.Connection, filters: dict[str, Any], after: str | None
):
    asked = {"upper": "00000000-0000-0000-0000-00000000cb20" if after else "00000000-0000-0000-0000-0000000007d0"}
    plan = custom_plan(filled, "list_schedules", NO_FILTER | filters | asked | {"after": after, "limit": 51})
    walked = {node["Relation Name"] for node in plan if node["Node Type"] == "Seq Scan"}
    assert not walked - SMALL
    assert {"duly_schedules_pkey", "duly_cursors_pkey"} & {node.get("Index Name") for node in plan}


RUNS_END = {"owner": None, "after": CEILING, "at": 2**62, "id": CEILING, "narrow": True, "most": 10_000}
PAGE_ENDS = {"tenant": None, "owner": None, "job": None, "after": None, "most": 10_000}


def visited(connection: psycopg.Connection, name: str, values: dict[str, Any]) -> tuple[list[Any], int]:
    """What a statement answers, and how many rows it looked at for that."""
    given = {key: encode(value) for key, value in values.items()}
    answer = connection.execute(load_queries()[name].text, given, prepare=False).fetchall()
    text = b"EXPLAIN (ANALYZE, FORMAT JSON) " + load_queries()[name].text
    row = connection.execute(text, given, prepare=False).fetchone()
    assert row is not None
    scans = [node for node in nodes(row[0][0]["Plan"]) if "Relation Name" in node]
    looked_at = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")
    return answer, sum(round(sum(node.get(rows, 0) for rows in looked_at) * node["Actual Loops"]) for node in scans)


@pytest.mark.parametrize(
    "whose, most",
    [({}, 500), ({"tenant": "t7"}, 200), ({"tenant": "t7", "job": "job7"}, 5), ({"job": "job7"}, 5)],
)
@pytest.mark.parametrize("filters", [{"q": "%nobody%"}, {"status": "failed"}, {"tag": "none"}, {"enabled": False}])
@pytest.mark.parametrize("after", [None, "00000000-0000-0000-0000-00000000c350"])
def test_a_page_looks_at_so_many_schedules_whosever_they_are(
    filled: psycopg.Connection, whose: dict[str, Any], most: int, filters: dict[str, Any], after: str | None
):
    ends, looked_at = visited(filled, "schedules_page_end", PAGE_ENDS | whose | {"after": after, "most": most})
    ((upper,),) = ends
    assert looked_at <= 2 * most + 150, "twice where a job is counted first, and the tenants"
    asked = NO_FILTER | whose | filters | {"after": after, "upper": upper, "limit": 51}
    found, looked_at = visited(filled, "list_schedules", asked)
    assert found == []
    assert looked_at <= 3 * (most + 1), "a schedule, its cursor and its revision"


@pytest.mark.parametrize(
    "whose, has", [({"tenant": "t7"}, 1000), ({"tenant": "t7", "job": "job7"}, 20), ({"job": "job7"}, 20)]
)
@pytest.mark.parametrize("filters", [{"q": "%nobody%"}, {"tag": "none"}, {"enabled": False}])
def test_few_schedules_of_a_tenant_or_a_job_are_looked_at_on_one_page(
    filled: psycopg.Connection, whose: dict[str, Any], has: int, filters: dict[str, Any]
):
    ends, looked_at = visited(filled, "schedules_page_end", PAGE_ENDS | whose)
    assert ends == []
    assert looked_at <= has + 100, "those that are asked for, and the tenants"
    found, looked_at = visited(filled, "list_schedules", NO_FILTER | whose | filters | {"limit": 51})
    assert found == []
    assert looked_at <= 3 * has, "a schedule, its cursor and its revision"


@pytest.mark.parametrize(
    "name, values, index",
    [
        ("schedules_page_end", PAGE_ENDS, "duly_schedules_pkey"),
        ("runs_page_end", RUNS_END, "duly_history_pkey"),
        ("runs_page_end", RUNS_END, "duly_history_undated"),
        ("runs_page_end", RUNS_END, "duly_runs_undated"),
        (
            "list_upcoming",
            ANYBODYS | {"fire_at": NOW, "slot": -1, "after": "0" * 32, "limit": 51},
            "duly_cursors_due",
        ),
        (
            "count_fires",
            ANYBODYS | {"since": NOW, "until": NOW + 3_600_000, "step": 60_000, "limit": 1000},
            "duly_cursors_due",
        ),
        ("count_trouble", {"late_before": NOW, "limit": 10_000}, "duly_history_dead"),
        ("longest_waiting", {"limit": 10_000, "webhooks": "target:webhook"}, "duly_runs_ready"),
        ("recent_outcomes", ANYBODYS | {"ids": SOME, "each": 20}, "duly_history_by_schedule"),
        ("count_minutes", {"since": NOW, "until": NOW + 600_000, "limit": 5000}, "duly_history_pkey"),
        ("recent_lags", {"ahead": NOW, "limit": 1000}, "duly_history_pkey"),
        (
            "count_recent",
            {"day": NOW, "hour": NOW, "ahead": NOW + 86_400_000, "limit": 10_000},
            "duly_history_pkey",
        ),
    ],
)
def test_what_is_seen_over_all_is_read_from_an_index(
    filled: psycopg.Connection, name: str, values: dict[str, Any], index: str
):
    check(custom_plan(filled, name, values), index)


@pytest.mark.parametrize("tenant", ["t7", None])
def test_a_key_is_found_by_the_unique_index(filled: psycopg.Connection, tenant: str | None):
    values = {"ref": "key7", "by_key": True, "tenant": tenant, "owner": None}
    check(custom_plan(filled, "find_schedule_id", values), "duly_schedules_key")
    check(generic_plan(filled, "find_schedule_id", values), "duly_schedules_key")


@pytest.mark.parametrize("name", ["read_run", "read_attempts", "lock_dead", "read_redrives"])
def test_what_an_owner_asks_for_is_found_by_its_index(filled: psycopg.Connection, name: str):
    values, index = PREPARED[name]
    check(custom_plan(filled, name, values | {"tenant": "t7", "owner": "owner7"}), index)


@pytest.fixture(scope="module")
def deserted(postgres_url: str) -> Iterator[psycopg.Connection]:
    """A connection to a database whose runs have all ended, and whose statistics say so: vacuum is yet to come."""
    with fresh_database(postgres_url) as url:
        driver = PostgresDriver(url)
        driver.open_sync()
        driver.close_sync()
        with psycopg.connect(url, autocommit=True, prepare_threshold=None) as connection:
            leave_alone(connection)
            connection.execute(
                "INSERT INTO duly.duly_runs"
                " (id, kind, tenant, job, queue, priority, due_at, slot, max_attempts, fired_at)"
                " SELECT gen_random_uuid(), 'direct', 't', 'job1', 'q', 1, n, n, 3, 1 FROM generate_series(1, 5000) n"
            )
            connection.execute("DELETE FROM duly.duly_runs")
            connection.execute("ANALYZE")
            yield connection


BY_ID: dict[str, dict[str, Any]] = {
    **{name: PREPARED[name][0] for name in ("claim_ready", "claim_newest", "claim_chosen", "complete_runs")},
    **{name: PREPARED[name][0] for name in ("return_runs", "move_gathered")},
    "finish_runs": {
        "id": SOME, "fence": [1] * 3, "session": [1] * 3, "max_attempts": [3] * 3, "status": ["failed"] * 3,
        "reason": [None] * 3,
        "error": [None] * 3, "result": [None] * 3, "now": NOW,
    },
    "lock_runs": {"id": SOME, "fence": [1] * 3, "session": [1] * 3},
    "progress_runs": {"id": SOME, "job": ["j"] * 3},
    "wake_sleepers": {"now": NOW},
    "release_line": {"id": SOME, "free": [1] * 3},
    "adopt_fair_keys": {"changed_after": NOW, "limit": 10},
    "hold_unknown_jobs": {"now": NOW},
    "adopt_jobs": {"jobs": ["j1", "topic:*"], "limit": 10},
    "adopt_known_jobs": {"now": NOW, "limit": 10},
}  # fmt: skip


@pytest.mark.parametrize("planned", [own_plan, generic_plan])
@pytest.mark.parametrize("name", sorted(BY_ID))
def test_p16_runs_are_found_by_their_ids_although_there_seem_to_be_none(
    deserted: psycopg.Connection, planned, name: str
):
    """While somebody holds an old snapshot the primary key is full of what has ended: nobody may walk through it."""
    scans = [node for node in planned(deserted, name, BY_ID[name]) if node.get("Index Name") == "duly_runs_pkey"]
    assert scans
    assert all("id" in scan.get("Index Cond", "") for scan in scans)


@pytest.mark.parametrize("planned", [own_plan, generic_plan])
@pytest.mark.parametrize("name", ["complete_runs", "finish_runs", "lock_runs"])
def test_ends_are_not_compared_each_with_each_although_there_seem_to_be_no_runs(
    deserted: psycopg.Connection, planned, name: str
):
    """A thousand ends at once would be a million comparisons: a third of a second for what takes ten milliseconds."""
    assert [node for node in planned(deserted, name, BY_ID[name]) if node["Node Type"] == "Nested Loop"] == []
