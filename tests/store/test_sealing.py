"""Encryption at rest: the database never sees what people store, keys are changed without a stop, nothing is lost."""

import json
import re
import sys
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

import pytest

from duly import Duly, Every, Retry, RunContext, Settings, WorkflowContext
from duly.app.stores import reseal_store
from duly.core.errors import ConfigurationError, PayloadUnreadable
from duly.core.sealed import read_keys
from duly.runtime.chance import Chance
from duly.store.resealing import PLACES
from duly.store.sealing import READ, WRITTEN, Ring
from tests.app.conftest import PATIENCE
from tests.store.sealing import KEY_A, KEY_B, OTHER_A, answered_columns, change, everything_in, statements
from tests.store_choice import EACH_STORE

SEALED_COLUMNS = {name for place in PLACES.values() for name in place.sealed}
OF_OTHERS = {
    *("list_calendars", "find_calendar", "lock_calendar", "read_calendars", "read_marks", "inherit_marks"),
    *("list_operations", "read_operation", "lock_operation", "waiting_operations", "audit_stops", "wanted_events"),
}
"""Statements about tables in which nothing is sealed, and whose columns have the same names."""


@pytest.fixture(params=EACH_STORE)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:////{str(tmp_path / 'duly.db').lstrip('/')}"
    return str(request.getfixturevalue("ready_postgres"))


def app_on(url: str, *keys: str, roles: tuple[str, ...] = ("scheduler", "worker")) -> Duly:
    app = Duly(url, settings=Settings(poll=0.05, payload_keys=keys), roles=roles)

    @app.job("greet", retry=Retry(max_attempts=1))
    async def greet(run: RunContext) -> dict[str, str]:
        return {"said": f"{run.payload['word']}-result"}

    @app.workflow("order", version="1")
    async def order(ctx: WorkflowContext, input: dict[str, str]) -> str:
        await ctx.step("made", lambda: "marzipan-value")
        ctx.publish("shown", "marzipan-shown")
        told = await ctx.wait_for_signal("go")
        return f"{input['word']}-{told}"

    return app


async def fill(app: Duly) -> Sequence[str]:
    """Store something everywhere; answer the ids of what can be read again."""
    await app.schedules.create("k", Every("1h"), job="greet", payload={"word": "marzipan-schedule"})
    await app.schedules.update("k", payload={"word": "marzipan-edited"})
    run = await app.enqueue("greet", {"word": "marzipan-run"})
    fired = await app.schedules.trigger("k")
    flow = await app.workflows.start("order", {"word": "marzipan-input"})
    await app.workflows.signal(flow.id, "go", "marzipan-signal")
    for one in (run, fired, flow):
        await app.runs.wait(one.id, timeout=PATIENCE)
    await app.webhooks.create("https://example.com/hook", events=["run.failed"])
    return [run.id, fired.id, flow.id]


async def check(app: Duly, ids: Sequence[str]) -> None:
    run, fired, flow = [await app.runs.wait(id, timeout=PATIENCE) for id in ids]
    assert (run.payload, run.result) == ({"word": "marzipan-run"}, {"said": "marzipan-run-result"})
    assert (fired.payload, fired.result) == ({"word": "marzipan-edited"}, {"said": "marzipan-edited-result"})
    assert (flow.payload, flow.result) == ({"word": "marzipan-input"}, "marzipan-input-marzipan-signal")
    assert await app.workflows.query(flow.id, "shown") == "marzipan-shown"
    assert [step.result for step in await app.workflows.steps(flow.id) if step.name == "made"] == ['"marzipan-value"']
    (edit, _) = (await app.schedules.changes("k")).items
    assert [(field.old, field.new) for field in edit.fields if field.field == "payload"] == [
        ({"word": "marzipan-schedule"}, {"word": "marzipan-edited"})
    ]


async def test_the_database_never_sees_what_people_store(url: str) -> None:
    async with app_on(url, KEY_A) as app:
        ids = await fill(app)
        await check(app, ids)
        held = everything_in(url)
        assert "marzipan" not in held
        assert "whsec_" not in held
        assert held.count("$duly1$a$") > 10
    async with app_on(url, KEY_A) as app:
        await check(app, ids)
        assert (await app.runs.list(job="greet")).items, "lists rest on nothing that is sealed"


async def test_the_stack_of_an_error_is_sealed_and_sealed_anew_under_the_next_key(url: str) -> None:
    def app_with(*keys: str) -> Duly:
        app = app_on(url, *keys)

        @app.job("pay", retry=Retry(max_attempts=1))
        async def pay() -> None:
            raise ValueError("refused")  # marzipan-line

        return app

    async with app_with(KEY_A) as app:
        run = await app.enqueue("pay")
        await app.runs.wait(run.id, timeout=PATIENCE)
        (attempt,) = await app.runs.attempts(run.id)
        assert attempt.error is not None
        assert "marzipan-line" in (attempt.error.stack or "")
        assert "marzipan" not in everything_in(url)
    await reseal_store(url, (KEY_B, KEY_A))
    async with app_with(KEY_B) as app:
        (attempt,) = await app.runs.attempts(run.id)
        assert attempt.error is not None
        assert "marzipan-line" in (attempt.error.stack or "")


async def test_without_keys_all_is_as_it_was(url: str) -> None:
    async with app_on(url) as app:
        ids = await fill(app)
        await check(app, ids)
    assert "marzipan-run" in everything_in(url)
    assert "$duly1$" not in everything_in(url)


@pytest.mark.parametrize("keys", [(), (KEY_B,), (OTHER_A,), ("plain", KEY_B)])
async def test_a_store_is_not_opened_without_its_key_and_the_error_names_it(url: str, keys: tuple[str, ...]) -> None:
    async with app_on(url, KEY_A) as app:
        ids = await fill(app)
    with pytest.raises(PayloadUnreadable, match="key 'a'") as refusal:
        async with app_on(url, *keys):
            pass
    assert refusal.value.details == {"key": "a"}
    async with app_on(url, KEY_A) as app:
        await check(app, ids)


async def test_a_value_that_was_moved_or_damaged_fails_alone_and_says_so(url: str) -> None:
    async with app_on(url, KEY_A, roles=()) as app:
        moved = await app.enqueue("greet", {"word": "mine"})
        stolen = await app.enqueue("greet", {"word": "theirs"})
        good = await app.enqueue("greet", {"word": "good"})
    other = f"(SELECT payload FROM duly_runs WHERE id = '{moved.id}')"
    change(url, f"UPDATE duly_runs SET payload = {other} WHERE id = '{stolen.id}'")
    async with app_on(url, KEY_A) as app:
        assert (await app.runs.wait(good.id, timeout=PATIENCE)).result == {"said": "good-result"}
        assert (await app.runs.wait(moved.id, timeout=PATIENCE)).result == {"said": "mine-result"}
        failed = await app.runs.wait(stolen.id, timeout=PATIENCE)
        assert failed.status == "failed"
        assert str(failed.error_message).startswith("PayloadUnreadable: a stored value is sealed with key 'a'")
        with pytest.raises(PayloadUnreadable):
            _ = failed.payload
        assert stolen.id in {run.id for run in (await app.runs.list()).items}


SECRET = "whsec_" + b64encode(b"marzipan" * 4).decode()
HOOK = {"kind": "webhook", "url": "https://example.com/in", "secret": SECRET, "headers": {"X-Key": "marzipan-header"}}


async def test_the_secret_and_the_headers_of_a_target_are_sealed_and_other_definitions_are_not(url: str) -> None:
    async with app_on(url, roles=()) as app:
        await app.schedules.create("before", Every("1h"), target=HOOK)
    async with app_on(url, KEY_A, roles=()) as app:
        await app.schedules.create("hook", Every("1h"), target=HOOK)
        await app.schedules.create("usual", Every("1h"), job="greet", payload={"secret": 1, "headers": 2})
        assert everything_in(url).count(SECRET) == 1, "what was there before waits for a reseal"
        assert (await reseal_store(url, [KEY_A])).unreadable == 0
        assert (await reseal_store(url, [KEY_A])).written == 0
        held = everything_in(url)
        assert SECRET not in held
        assert "marzipan-header" not in held
        assert '{"key":"usual"' in held
    for keys in ((KEY_A,), (KEY_B, KEY_A)):
        async with app_on(url, *keys, roles=()) as app:
            for key in ("before", "hook"):
                found = await app.schedules.get(key)
                assert found is not None
                assert json.loads(found.definition.target.spec or "") == HOOK
            assert {one.key for one in (await app.schedules.list()).items} == {"before", "hook", "usual"}
            assert await app.schedules.upcoming("hook", count=1)
    assert (await reseal_store(url, ["plain", KEY_B, KEY_A])).unreadable == 0
    assert "$duly1$" not in everything_in(url)
    async with app_on(url, roles=()) as app:
        assert len((await app.schedules.list()).items) == 3


async def test_sealing_anew_does_not_make_a_moved_value_fit(url: str) -> None:
    async with app_on(url, KEY_A, roles=()) as app:
        mine = await app.enqueue("greet", {"word": "mine"})
        stolen = await app.enqueue("greet", {"word": "theirs"})
    other = f"(SELECT payload FROM duly_runs WHERE id = '{mine.id}')"
    change(url, f"UPDATE duly_runs SET payload = {other} WHERE id = '{stolen.id}'")
    assert (await reseal_store(url, [KEY_B, KEY_A])).unreadable == 1
    async with app_on(url, KEY_B, KEY_A, roles=()) as app:
        found = await app.runs.get(stolen.id)
        assert found is not None
        with pytest.raises(PayloadUnreadable):
            _ = found.payload


async def test_a_key_is_changed_without_a_stop_and_taken_back(url: str) -> None:
    async with app_on(url) as app:
        plain = await fill(app)
    async with app_on(url, KEY_A) as app:
        await check(app, plain)
        done = await reseal_store(url, [KEY_A])
        assert (done.written > 5, done.unreadable) == (True, 0)
        assert "marzipan" not in everything_in(url)
        await check(app, plain)
    async with app_on(url, KEY_B, KEY_A) as app:
        await check(app, plain)
        assert (await reseal_store(url, [KEY_B, KEY_A])).unreadable == 0
        assert "$duly1$a$" not in everything_in(url)
        assert (await reseal_store(url, [KEY_B, KEY_A])).written == 0, "safe to repeat"
    async with app_on(url, KEY_B) as app:
        await check(app, plain)
        assert (await reseal_store(url, ["plain", KEY_B])).unreadable == 0
    async with app_on(url) as app:
        await check(app, plain)
    assert "$duly1$" not in everything_in(url)


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_what_a_statement_answers_is_unsealed_where_it_may_be_sealed(dialect: str) -> None:
    """A column that is added to a statement, or a new statement, cannot be forgotten."""
    found: dict[str, set[int]] = {}
    for name, place, word in answered_columns(dialect):
        column = re.findall(r"\w+", word.rpartition("(")[2] if word.startswith("coalesce") else word)
        if name in OF_OTHERS or name.startswith("unsealed_") or not set(column) & SEALED_COLUMNS:
            continue
        found.setdefault(name, set()).add(place)
    assert {name: tuple(sorted(places)) for name, places in found.items()} == dict(READ)


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_what_a_statement_writes_is_sealed(dialect: str) -> None:
    written = set()
    for path in statements(dialect):
        text = path.read_text()
        table = re.search(r"(?:INSERT INTO|^UPDATE) (?:duly\.)?duly_(\w+)", text, re.MULTILINE)
        if table is None or table[1] not in PLACES or path.stem.startswith("reseal_"):
            continue
        given = {name for name in PLACES[table[1]].sealed if re.search(rf":{name}\b", text)}
        assert given == set(WRITTEN[path.stem].sealed if path.stem in WRITTEN else ()), path.stem
        written |= {path.stem} if given else set()
    assert written == set(WRITTEN)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (["x"], "number 1 has no name"),
        (["a:short"], "not base64"),
        (["a:c2hvcnQ="], "has 5 bytes"),
        ([KEY_A, KEY_A], "there twice"),
        ([KEY_A, "plain"], "not the first"),
        (["plain"], "stands alone"),
        ([5], "no list of texts"),
    ],
)
def test_bad_keys_are_refused_and_not_shown(keys: list[str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as refusal:
        Settings(payload_keys=tuple(keys))
    assert KEY_A[2:] not in str(refusal.value)


def test_a_key_is_in_no_repr() -> None:
    assert KEY_A[2:] not in repr(Settings(payload_keys=(KEY_A,)))
    assert "AAEC" not in repr(read_keys([KEY_A]))


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(ConfigurationError, match=r"duly\[encryption\]"):
        Ring([KEY_A], Chance())


def test_the_same_text_is_sealed_differently_each_time() -> None:
    ring = Ring([KEY_A], Chance())
    one, other = ring.seal("{}", "id"), ring.seal("{}", "id")
    assert one != other
    assert ring.unseal(one) == ring.unseal(other) == "{}"
    with pytest.raises(PayloadUnreadable):
        ring.unseal(one.removesuffix("id") + "di")
