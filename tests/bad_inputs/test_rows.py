"""Every row of bad inputs gets the answer it names, from a served process on each store; health answers after each.

The public rows are those of the acceptance list; ``bad-inputs.jsonl`` has our own in the same form. A row whose surface
is not there yet is counted in ``MISSING``, and one that another test covers stands in ``ELSEWHERE`` with that test.
"""

import ast
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from duly.api.problems import CODES
from duly.api.routes import ROUTES
from tests.bad_inputs.asking import API, LEAKS, Answer, Request, Target, request_of, rows, statuses, unique
from tests.counting import at_least
from tests.databases import fresh_database
from tests.serve.serving import Served
from tests.store_choice import EACH_STORE

ROOT = Path(__file__).parents[2]
PUBLIC = at_least(rows("bad-inputs-public.jsonl"), 120, "public rows")
OURS = at_least(rows("bad-inputs.jsonl"), 599, "rows of our own")
ROWS = {row["id"]: row for row in [*PUBLIC, *OURS]}
LONG = 15.0
"""Seconds that an answer takes only where somebody waits for what does not come, however busy the machine is."""

CRON = {"name": "x", "cronExpression": "0 2 * * *", "jobType": "x"}
ONCE = {"name": "x", "onceAt": "2099-01-01T00:00:00Z", "jobType": "x"}
RUN = {"jobType": "x"}

# The smallest request of each surface: method, path, body. {ref} is a schedule or a run that is there.
SURFACES: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "api any": ("GET", f"{API}/schedules", None),
    "api create schedule": ("POST", f"{API}/schedules", CRON),
    "api create one-shot": ("POST", f"{API}/schedules", ONCE),
    "api create run": ("POST", f"{API}/runs", RUN),
    "api put schedule": ("PUT", f"{API}/schedules/put-key", CRON),
    "api update schedule": ("PATCH", f"{API}/schedules/{{ref}}", {}),
    "api pause schedule": ("POST", f"{API}/schedules/{{ref}}/pause", {}),
    "api trigger schedule": ("POST", f"{API}/schedules/{{ref}}/trigger", {}),
    "api reschedule schedule": ("POST", f"{API}/schedules/{{ref}}/reschedule", {}),
    "api backfill": ("POST", f"{API}/schedules/{{ref}}/backfill", {}),
    "api apply schedules": ("POST", f"{API}/schedules:apply", {}),
    "api preview next fires": ("POST", f"{API}/schedules:preview", {"cronExpression": "0 2 * * *"}),
    "api get schedule": ("GET", f"{API}/schedules/x", None),
    "api schedules": ("GET", f"{API}/schedules", None),
    "api list schedules": ("GET", f"{API}/schedules", None),
    "api list runs": ("GET", f"{API}/runs", None),
    "api get run": ("GET", f"{API}/runs/x", None),
    "api create webhook": ("POST", f"{API}/webhooks", {"url": "https://example.com/", "events": ["run.failed"]}),
    "api put queue": ("PUT", f"{API}/queues/q", {}),
    "api put calendar": ("PUT", f"{API}/calendars/c", {}),
    "api redrive dead letters": ("POST", f"{API}/dead-letters:redrive", {}),
    "api delete then trigger": ("DELETE", f"{API}/schedules/{{ref}}", None),
    "api pause/resume": ("POST", f"{API}/schedules/{{ref}}/pause", None),
    "worker heartbeat": ("POST", f"{API}/worker/heartbeat", {}),
    "workflow signal": ("POST", f"{API}/runs/01890000-0000-7000-8000-000000000000/signals/go", {}),
    "http": ("GET", f"{API}/schedules", None),
}  # fmt: skip

MISSING: dict[str, str] = {}
"""Surfaces that are not there yet, with who makes them."""

# What would have to be in the table of routes for a surface to be there.
APPEARS = {
    "api admin keys": "/keys",
    "api events stream": "/events",
    "worker claim": "/worker/claim",
    "worker complete": "/worker/complete",
    "worker heartbeat": "/worker/heartbeat",
    "api create webhook": "/webhooks",
    "workflow signal": "/runs/{ref}/signals/{name}",
}
COMING = {"api backfill": "/schedules/{ref}/backfill"}
"""Surfaces whose rows are run as soon as their route is there."""

OPEN: dict[str, str] = {}
"""Rows that are answered in another way, and how."""

_WEBHOOK = "tests/targets/test_webhook.py"
_AUTH, _JWT = "tests/api/test_auth.py", "tests/api/test_jwt.py"
_FOREIGN = f"{_AUTH}::test_what_belongs_to_others_is_404_by_the_same_statements_as_what_is_not_there"
ELSEWHERE = {
    "A01": f"{_AUTH}::test_without_a_credential_it_is_401",
    "A05": f"{_AUTH}::test_every_bad_key_takes_the_same_path_to_the_same_answer",
    **dict.fromkeys(
        ("A10", "A13", "A14", "A15", "A17", "A20", "A23", "A24"), f"{_JWT}::test_bad_tokens_of_the_list_are_401"
    ),
    **dict.fromkeys(("O01", "O04", "O05"), _FOREIGN),
    "O08": f"{_AUTH}::test_o08_runs_of_an_owner_are_listed_for_those_who_may_see_them",
    "D04": "tests/dashboard/test_schedules.py::test_a_form_without_its_token_changes_nothing",
    "D06": "tests/api/test_hosts.py::test_other_names_are_not",
    "D07": "tests/dashboard/test_shell.py::test_a_login_leads_to_no_other_site",
    "D10": "tests/dashboard/test_shell.py::test_a_logout_ends_the_session_also_for_who_copied_its_cookie",
    "O20": "tests/api/test_worker.py::test_o20_a_key_for_some_queues_claims_from_no_other",
    "R05": "tests/api/test_worker.py::test_r05_who_completes_what_was_cancelled_is_told_that_it_came_too_late",
    "X02": "tests/bad_inputs/test_workflow.py::test_x02_two_steps_of_one_name_keep_each_its_own_result",
    "X05": "tests/workflow/test_residents.py::test_a_record_that_grows_too_long_fails_its_run_with_advice",
    "O13": f"{_AUTH}::test_with_another_scope_it_is_403",
    "O18": f"{_AUTH}::test_quotas_are_429_and_only_time_that_heals_is_told",
    "H06": "tests/serve/test_slow_clients.py::test_h06_two_hundred_slow_heads_and_bodies_leave_health_alone",
    "H17": "tests/serve/test_slow_clients.py::test_h17_fifty_thousand_requests_ahead_cost_no_memory",
    "H18": "tests/api/test_events.py::test_h18_of_five_hundred_streams_that_nobody_reads_most_are_refused",
    "L02": "tests/bad_inputs/test_command_line.py::test_l02_a_password_is_not_printed_where_nobody_answers",
    "L05": "tests/bad_inputs/test_command_line.py::test_l05_a_key_with_a_line_break_is_refused",
    "L07": "tests/bad_inputs/test_command_line.py::test_l07_aliases_do_not_multiply",
    "L09": "tests/serve/test_config.py::test_settings_that_do_not_go_together_name_who_chose_them",
    "L11": "tests/cli/test_doctor.py::test_a_network_file_system_is_refused",
    "L13": f"{_JWT}::test_what_could_not_be_safe_is_refused_at_start",
    "L19": "tests/cli/test_db.py::test_a_newer_schema_is_left_alone",
    "L20": "tests/store/sqlite/test_migrating.py::test_ten_processes_that_start_at_once_set_up_one_schema",
    "W30": f"{_WEBHOOK}::test_w30_the_address_that_was_checked_is_the_one_that_is_called",
    "W31": f"{_WEBHOOK}::test_w31_any_address_inside_blocks_the_name",
    "W32": f"{_WEBHOOK}::test_w32_a_redirect_is_not_followed",
    "W33": f"{_WEBHOOK}::test_w33_one_that_never_answers_is_given_up",
    "W36": f"{_WEBHOOK}::test_w36_a_large_or_packed_answer_is_neither_read_whole_nor_unpacked",
    "W38": f"{_WEBHOOK}::test_w38_retry_after_is_honoured_within_bounds",
    "W40": f"{_WEBHOOK}::test_w40_a_certificate_that_is_not_good_is_refused",
    "W44": "tests/core/test_signing.py::test_what_is_not_signed_of_late_is_refused",
    "X09": _FOREIGN,
    "R01": "tests/api/test_worker.py::test_what_is_stale_is_refused_and_changes_nothing",
    "R02": "tests/api/test_worker.py::test_what_is_stale_is_refused_and_changes_nothing",
    "R07": "tests/app/test_handlers.py::test_a_number_that_json_does_not_have_fails_the_run_instead_of_becoming_null",
    "R11": "tests/processes/test_workers.py::test_e5_a_run_that_kills_its_process_ends_failed_after_its_attempts",
    "R13": "tests/engine/test_heartbeat.py::test_it_goes_on_while_the_loop_is_blocked_but_not_for_half_a_lease",
}


# The statuses of a type; a row may allow another status beside, which has a type of its own (400 is "cannot be read").
TYPES = {
    "invalid-json": (400,), "invalid-request": (400,), "invalid-header": (400,), "validation-error": (422,),
    "forbidden": (403,), "not-found": (404,), "method-not-allowed": (405,), "conflict": (409,),
    "precondition-failed": (412,), "payload-too-large": (413,), "uri-too-long": (414,), "rate-limited": (429,),
    "unsupported-media-type": (415,), "idempotency-key-reused": (422,), "headers-too-large": (431,),
}  # fmt: skip


@pytest.fixture(scope="module")
def own_postgres(postgres_url: str) -> Iterator[str]:
    with fresh_database(postgres_url) as url:
        yield url


@pytest.fixture(scope="module", params=EACH_STORE)
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("bad")
    url = f"sqlite:///{folder}/x.db" if request.param == "sqlite" else request.getfixturevalue("own_postgres")
    # Nothing fires or runs: what is stored changes by requests only.
    served = Served(folder, "--database-url", url, command="api").ready()
    served.until(lambda: served.status_of(f"{API}/schedules") == 200, "the API")
    target = Target(request.param, served, url)
    yield target
    target.close()
    served.close()


def families() -> list[str]:
    return at_least(sorted({row["surface"] for row in ROWS.values() if row["surface"] in SURFACES}), 25, "surfaces")


@pytest.mark.processes
@pytest.mark.parametrize("surface", families())
def test_every_row_of_a_surface_gets_its_answer(target: Target, surface: str) -> None:
    if surface in COMING and not is_there(COMING[surface]):
        pytest.skip(f"{surface} is not there yet")
    wrong: list[str] = []
    before = target.memory()
    for row in ROWS.values():
        if (
            row["surface"] == surface
            and row["id"] not in (*ELSEWHERE, *OPEN)
            and (target.name == "sqlite" or touches_the_store(row))
        ):
            wrong += [f"{row['id']}: {what}" for what in findings(target, row)]
    assert wrong == []
    assert target.memory() - before < 50_000_000


def findings(target: Target, row: dict[str, Any]) -> list[str]:
    """What is not as the row and the rules for every row say."""
    special = SPECIAL.get(row["id"])
    if special is not None:
        special(target, row)
        return after(target)
    method, path, base = SURFACES[row["surface"]]
    if "{ref}" in path:
        path = path.replace("{ref}", make_schedule(target, row))
    request = request_of(row, method, path, base)
    stored = target.stored()
    answer = target.ask(request)
    found = judged(answer, row)
    if answer.status >= 400 and target.stored() != stored:
        found.append(f"it was refused with {answer.status}, and something was stored")
    return found + after(target)


def judged(answer: Answer, row: dict[str, Any]) -> list[str]:
    found = []
    if answer.status not in statuses(row):
        found.append(f"status {answer.status} {answer.body[:300]!r}, expected {statuses(row)}")
    if answer.cost > 1 or answer.took > LONG:
        found.append(f"it took {answer.took:.1f} s, of which it computed {answer.cost:.1f} s")
    if answer.status < 400:
        return found
    if answer.headers.get("content-type") != "application/problem+json":
        return [*found, f"content type {answer.headers.get('content-type')}"]
    document = answer.json
    kind = CODES[document["code"]][0]
    if (document["type"], document["status"], answer.status) != (kind.type, kind.status, kind.status):
        found.append(f"the document says {document}")
    wanted = row["expect"].get("type")
    if wanted is not None and answer.status in statuses(row) and kind.name != wanted and answer.status in TYPES[wanted]:
        found.append(f"type {document['type']}, expected {wanted}")
    missing = {"title", "detail"} - document.keys()
    if missing or not document["detail"]:
        found.append(f"no {missing or 'detail'}")
    if kind.name == "validation-error" and not all("pointer" in e or "parameter" in e for e in document["errors"]):
        found.append("an error without a place")
    leaks = [leak for leak in LEAKS if leak in answer.body.decode()]
    return found + [f"it tells {leak!r}" for leak in leaks]


def after(target: Target) -> list[str]:
    health = [target.ask(Request("GET", path, {})).status for path in ("/livez", "/readyz")]
    return [] if health == [200, 200] else [f"health is {health} afterwards"]


def make_schedule(target: Target, row: dict[str, Any]) -> str:
    every = {"name": "x", "everyMs": 1000, "jobType": "x"}
    body = every if row["input"].get("schedule") == "every 1 s" else CRON
    answer = target.ask(request_of({"input": {}}, "POST", f"{API}/schedules", {**body, "key": unique("s")}))
    assert answer.status == 201, answer.body
    return str(answer.json["key"])


def touches_the_store(row: dict[str, Any]) -> bool:
    """Most bodies are refused before any store is asked; one store is enough to show that."""
    if row["surface"] in ("http", "api create schedule", "api create one-shot", "api create run"):
        return row["id"] in SPECIAL or min(statuses(row)) < 300 or "NUL" in row["expect"].get("note", "")
    return True


def is_there(path: str) -> bool:
    return path in {route.path for route in ROUTES}


def same_key_twice(target: Target, row: dict[str, Any]) -> None:
    request = Request(
        "POST", f"{API}/runs", {"Idempotency-Key": "k1", "Content-Type": "application/json"}, b'{"jobType": "x"}'
    )
    first, second = target.ask(request), target.ask(request)
    assert first.status in statuses(row)
    assert (first.status, first.json) == (second.status, second.json)


def same_key_other_body(target: Target, row: dict[str, Any]) -> None:
    headers = {"Idempotency-Key": "k2", "Content-Type": "application/json"}
    assert target.ask(Request("POST", f"{API}/runs", headers, b'{"jobType": "x"}')).status == 202
    assert judged(target.ask(Request("POST", f"{API}/runs", headers, b'{"jobType": "y"}')), row) == []


def triggers_around_a_delete(target: Target, row: dict[str, Any]) -> None:
    key = make_schedule(target, row)
    id = target.ask(Request("GET", f"{API}/schedules/{key}", {})).json["id"]
    gone = threading.Event()
    late: list[bool] = []

    def trigger() -> None:
        was_gone = gone.is_set()
        answer = target.ask(request_of({"input": {}}, "POST", f"{API}/schedules/{key}/trigger", {"force": True}))
        assert answer.status in statuses(row), answer.body
        late.append(was_gone and answer.status == 202)

    threads = [threading.Thread(target=trigger) for _ in range(row["input"]["parallel"])]
    for thread in threads[:25]:
        thread.start()
    assert target.ask(Request("DELETE", f"{API}/schedules/{key}", {})).status == 204
    gone.set()
    for thread in threads[25:]:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(late) == len(threads)
    assert not any(late), "no run after the delete was acknowledged"
    items = target.ask(Request("GET", f"{API}/runs?scheduleId={id}&status=pending", {})).json["items"]
    assert items == [], "and what waited was cancelled with it"


def pause_and_resume(target: Target, row: dict[str, Any]) -> None:
    key = make_schedule(target, row)
    for flip in range(60):  # a thousand take a minute; windows are watched in the contract of stores
        action = "pause" if flip % 2 == 0 else "resume"
        answer = target.ask(Request("POST", f"{API}/schedules/{key}/{action}", {}))
        assert answer.status in statuses(row), answer.body
    schedule = target.ask(Request("GET", f"{API}/schedules/{key}", {})).json
    assert schedule["enabled"] is True
    assert schedule["nextWindowAt"] is not None


def bytes_as_they_are(target: Target, row: dict[str, Any]) -> None:
    answer = target.send(row["input"]["bytes"].encode("latin-1"))
    assert judged(answer, row) == [], row["id"]


def plain_data(target: Target, row: dict[str, Any]) -> None:
    request = request_of(row, *SURFACES[row["surface"]])
    made = target.ask(request)
    assert made.status in statuses(row)
    assert (
        target.ask(Request("GET", f"{API}/runs/{made.json['id']}", {})).json["payload"]
        == row["input"]["set"]["payload"]
    )
    listed = target.ask(Request("GET", f"{API}/runs", {})).body.decode()
    said = target.served.said()
    assert "hunter2" not in listed + said
    assert "Popen" not in said


def a_rain_of_heartbeats(target: Target, row: dict[str, Any]) -> None:
    claim = {"jobs": ["nobody-runs-this"], "waitSeconds": 0}
    session = target.ask(request_of({"input": {}}, "POST", f"{API}/worker/claim", claim)).json["session"]
    beat = request_of({"input": {}}, "POST", f"{API}/worker/heartbeat", {"session": session})
    assert {target.ask(beat).status for _ in range(100)} <= set(statuses(row))


SPECIAL: dict[str, Callable[[Target, dict[str, Any]], None]] = {
    "I01": same_key_twice,
    "own-I1": same_key_other_body,
    "R08": a_rain_of_heartbeats,
    "I06": triggers_around_a_delete,
    "I07": pause_and_resume,
    "J21": plain_data,
    "P22": plain_data,
    **{row["id"]: bytes_as_they_are for row in OURS if "bytes" in row["input"]},
}


def test_no_row_is_forgotten() -> None:
    """Each public row is run, waits for its surface, or is shown by another test; and each says which."""
    waiting = [row["id"] for row in PUBLIC if row["surface"] in MISSING]
    run = [row["id"] for row in PUBLIC if row["surface"] in SURFACES and row["id"] not in (*ELSEWHERE, *waiting)]
    assert sorted([*run, *waiting, *ELSEWHERE, *OPEN]) == sorted(row["id"] for row in PUBLIC)
    assert len(ROWS) == len(PUBLIC) + len(OURS), "every row has an id of its own"
    assert {row["surface"] for row in OURS} <= set(SURFACES)


@pytest.mark.parametrize("surface", APPEARS)
def test_a_surface_that_is_there_is_tested(surface: str) -> None:
    """When this fails: give the surface its place in SURFACES (or a test in ELSEWHERE), and take it out of MISSING."""
    assert is_there(APPEARS[surface]) == (surface not in MISSING)


@pytest.mark.parametrize("id", ELSEWHERE)
def test_what_is_shown_elsewhere_is_there(id: str) -> None:
    file, _, name = ELSEWHERE[id].partition("::")
    tree = ast.parse((ROOT / file).read_text())
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
