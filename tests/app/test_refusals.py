"""Bad values raise typed errors before anything is stored, and change nothing."""

import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from duly import CatchUp, Cron, Duly, DulyError, Every, Jitter, Once, Retry, Snooze
from duly.core.errors import ConfigurationError, Invalid, NotFound
from duly.core.instants import to_datetime
from tests.acceptance.rules import rule
from tests.app.conftest import PATIENCE, MakeApp

FUTURE = datetime(2099, 1, 1, 12, tzinfo=UTC)
PAST = datetime(2020, 1, 1, tzinfo=UTC)
TOO_EARLY = datetime(1970, 1, 1, tzinfo=UTC) - timedelta(milliseconds=1)
TOO_LATE = datetime(9999, 1, 1, tzinfo=UTC)
EXTREMES = (
    TOO_EARLY,
    TOO_LATE,
    datetime.min.replace(tzinfo=timezone(timedelta(hours=23))),
    datetime.max.replace(tzinfo=timezone(-timedelta(hours=23))),
)
NAIVE = datetime(2099, 1, 1)  # noqa: DTZ001  # the mistake


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def good(**changes: Any) -> dict[str, Any]:
    return {"key": "k", "timing": Every("1h"), "job": "work", **changes}


# what is given, the code, a word of the message
SCHEDULES: list[tuple[str, dict[str, Any], str, str]] = [
    ("key empty", good(key=""), "VALIDATION_FAILED", "key"),
    ("key with a space", good(key="a b"), "VALIDATION_FAILED", "key"),
    ("key with a slash", good(key="a/b"), "VALIDATION_FAILED", "key"),
    ("key not ASCII", good(key="ключ"), "VALIDATION_FAILED", "key"),
    ("key with a line break", good(key="a\n"), "VALIDATION_FAILED", "key"),
    ("key too long", good(key="k" * 201), "VALIDATION_FAILED", "key"),
    ("key a number", good(key=5), "VALIDATION_FAILED", "key"),
    ("name empty", good(name=""), "VALIDATION_FAILED", "name"),
    ("name blank", good(name=" \u2003"), "VALIDATION_FAILED", "name"),
    ("name too long", good(name="n" * 201), "VALIDATION_FAILED", "name"),
    ("name with NUL", good(name="a\x00"), "VALIDATION_FAILED", "name"),
    ("name with a control character", good(name="a\x9b2J"), "VALIDATION_FAILED", "name"),
    ("tag with a control character", good(tags=["a\x85"]), "VALIDATION_FAILED", "tags"),
    ("name half a character", good(name="\ud800"), "VALIDATION_FAILED", "name"),
    ("name a number", good(name=5), "VALIDATION_FAILED", "name"),
    ("description too long", good(description="d" * 10_001), "VALIDATION_FAILED", "description"),
    ("no target", good(job=None), "VALIDATION_FAILED", "target"),
    ("two targets", good(workflow="w"), "VALIDATION_FAILED", "target"),
    ("job and topic", good(topic="a.b"), "VALIDATION_FAILED", "target"),
    ("job empty", good(job=""), "VALIDATION_FAILED", "job"),
    ("job too long", good(job="j" * 101), "VALIDATION_FAILED", "job"),
    ("job with NUL", good(job="a\x00"), "VALIDATION_FAILED", "job"),
    ("job reserved", good(job="topic:x"), "VALIDATION_FAILED", "job"),
    ("topic in capitals", good(job=None, topic="Mail"), "SCHEDULE_TOPIC_INVALID", "topic"),
    ("topic of four words", good(job=None, topic="a.b.c.d"), "SCHEDULE_TOPIC_INVALID", "topic"),
    ("target of no kind", good(job=None, target={"kind": "fax"}), "VALIDATION_FAILED", "target"),
    ("target without a name", good(job=None, target={"kind": "queue"}), "VALIDATION_FAILED", "target"),
    ("target no mapping", good(job=None, target="queue"), "VALIDATION_FAILED", "target"),
    ("no timing", good(timing=None), "VALIDATION_FAILED", "timing"),
    ("timing a text", good(timing="0 2 * * *"), "VALIDATION_FAILED", "timing"),
    ("once in the past", good(timing=Once(PAST)), "SCHEDULE_MOMENT_IN_PAST", ""),
    ("no window", good(timing=Once(FUTURE), end_at=FUTURE - timedelta(days=1)), "VALIDATION_FAILED", "window"),
    ("payload NaN", good(payload={"a": math.nan}), "VALIDATION_FAILED", "nan"),
    ("payload infinite", good(payload=[math.inf]), "VALIDATION_FAILED", "inf"),
    ("payload with NUL", good(payload={"a": ["b\x00"]}), "VALIDATION_FAILED", "NUL"),
    ("payload key with NUL", good(payload={"a\x00": 1}), "VALIDATION_FAILED", "NUL"),
    ("payload too deep", good(payload=deep(65)), "VALIDATION_FAILED", "64"),
    ("payload too large", good(payload="x" * 262_144), "PAYLOAD_TOO_LARGE", "262146"),
    ("payload not JSON", good(payload={"a": object()}), "VALIDATION_FAILED", "JSON"),
    ("payload half a character", good(payload="\ud800"), "VALIDATION_FAILED", "JSON"),
    ("payload against the signature", good(job="typed", payload={"user": "x"}), "VALIDATION_FAILED", "user"),
    ("overlap unknown", good(overlap="maybe"), "VALIDATION_FAILED", "overlap"),
    ("overlap None", good(overlap=None), "VALIDATION_FAILED", "overlap"),
    ("catch-up unknown", good(catch_up="some"), "VALIDATION_FAILED", "catch_up"),
    ("start naive", good(start_at=NAIVE), "VALIDATION_FAILED", "start_at"),
    ("start a text", good(start_at="2099-01-01"), "VALIDATION_FAILED", "start_at"),
    ("end naive", good(end_at=NAIVE), "VALIDATION_FAILED", "end_at"),
    ("end before start", good(start_at=FUTURE, end_at=FUTURE - timedelta(days=1)), "VALIDATION_FAILED", "end_at"),
    ("end at start", good(start_at=FUTURE, end_at=FUTURE), "VALIDATION_FAILED", "end_at"),
    ("end in the past", good(end_at=PAST), "VALIDATION_FAILED", "window"),
    ("retry a number", good(retry=3), "VALIDATION_FAILED", "retry"),
    ("timeout zero", good(timeout=0), "VALIDATION_FAILED", "timeout"),
    ("timeout below zero", good(timeout=-1), "VALIDATION_FAILED", "timeout"),
    ("timeout NaN", good(timeout=math.nan), "VALIDATION_FAILED", "timeout"),
    ("timeout true", good(timeout=True), "VALIDATION_FAILED", "timeout"),
    ("jitter reversed", good(jitter=(5, 1)), "VALIDATION_FAILED", "jitter"),
    ("jitter of one", good(jitter=(5,)), "VALIDATION_FAILED", "jitter"),
    ("jitter a number", good(jitter=5), "VALIDATION_FAILED", "jitter"),
    ("max_runs zero", good(max_runs=0), "VALIDATION_FAILED", "max_runs"),
    ("max_runs true", good(max_runs=True), "VALIDATION_FAILED", "max_runs"),
    ("max_queued below zero", good(max_queued=-1), "VALIDATION_FAILED", "max_queued"),
    ("max_concurrent zero", good(max_concurrent=0), "VALIDATION_FAILED", "max_concurrent"),
    ("pause_after_failures zero", good(pause_after_failures=0), "VALIDATION_FAILED", "pause_after_failures"),
    ("priority too high", good(priority=40_000), "VALIDATION_FAILED", "priority"),
    ("priority a fraction", good(priority=0.5), "VALIDATION_FAILED", "priority"),
    ("queue too long", good(queue="q" * 201), "VALIDATION_FAILED", "queue"),
    ("enabled a word", good(enabled="no"), "VALIDATION_FAILED", "enabled"),
    ("fire_current_window a word", good(fire_current_window="no"), "VALIDATION_FAILED", "fire_current_window"),
    ("tags a text", good(tags="a"), "VALIDATION_FAILED", "tags"),
    ("tags None inside", good(tags=[None]), "VALIDATION_FAILED", "tags"),
    ("tags a number", good(tags=5), "VALIDATION_FAILED", "tags"),
    ("too many tags", good(tags=[str(n) for n in range(51)]), "VALIDATION_FAILED", "tags"),
    ("metadata unknown", good(metadata={"owner": "x"}), "VALIDATION_FAILED", "owner"),
    ("metadata too long", good(metadata={"owner_id": "x" * 129}), "VALIDATION_FAILED", "owner_id"),
    ("metadata a list", good(metadata=["owner_id"]), "VALIDATION_FAILED", "metadata"),
]  # fmt: skip


async def test_a_bad_schedule_is_refused_by_name_and_nothing_is_stored(make_app: MakeApp) -> None:
    app = make_app(roles=())

    @app.job("typed")
    async def typed(user: int) -> None: ...

    wrong: list[str] = []
    async with app:
        for name, arguments, code, word in SCHEDULES:
            for call in (app.schedules.create(**arguments), app.schedules.create_many([good(key="first"), arguments])):
                try:
                    await call
                except DulyError as error:
                    if error.code != code or word not in str(error) or not isinstance(error, Invalid):
                        wrong.append(f"{name}: {error.code}: {error}")
                except Exception as error:  # noqa: BLE001  # the table says which ones are not typed
                    wrong.append(f"{name}: {type(error).__name__}: {error}")
                else:
                    wrong.append(f"{name}: accepted")
                with suppress(NotFound):
                    await app.schedules.delete("first")
        stored = [s.key async for s in app.schedules.iterate()]
    assert wrong == []
    assert stored == []


RUNS: list[tuple[str, dict[str, Any], str]] = [
    ("job empty", {"job": ""}, "job"),
    ("job with NUL", {"job": "a\x00"}, "job"),
    ("job too long", {"job": "j" * 101}, "job"),
    ("payload NaN", {"payload": math.nan}, "nan"),
    ("payload too deep", {"payload": deep(65)}, "64"),
    ("payload too large", {"payload": "x" * 262_144}, "262146"),
    ("run_at naive", {"run_at": NAIVE}, "run_at"),
    ("max_attempts zero", {"max_attempts": 0}, "max_attempts"),
    ("max_attempts many", {"max_attempts": 101}, "max_attempts"),
    ("timeout zero", {"timeout": 0}, "timeout"),
    ("queue empty", {"queue": ""}, "queue"),
    ("queue with NUL", {"queue": "a\x00"}, "queue"),
    ("queue a number", {"queue": 5}, "queue"),
    ("queue half a character", {"queue": "\udcff"}, "queue"),
    ("priority a text", {"priority": "high"}, "priority"),
    ("priority too high", {"priority": 99_999}, "priority"),
    ("empty id", {"id": ""}, "id"),
    ("id of a window", {"id": "sched:k:1767571200000"}, "id"),
    ("tenant with NUL", {"tenant": "\x00"}, "tenant"),
]


@rule("G4")
async def test_a_bad_run_is_refused_by_name_and_nothing_is_stored(make_app: MakeApp) -> None:
    app = make_app(roles=())
    wrong: list[str] = []
    async with app:
        for name, options, word in RUNS:
            arguments = {"job": "work", "payload": {}, **options}
            try:
                await app.enqueue(**arguments)
            except Invalid as error:
                if word not in str(error):
                    wrong.append(f"{name}: {error}")
            except Exception as error:  # noqa: BLE001  # the table says which ones are not typed
                wrong.append(f"{name}: {type(error).__name__}: {error}")
            else:
                wrong.append(f"{name}: accepted")
        stored = (await app.runs.list()).items
    assert wrong == []
    assert stored == []


async def test_the_limits_themselves_are_allowed(make_app: MakeApp) -> None:
    async with make_app(roles=()) as app:
        made = await app.schedules.create(
            "k" * 200, Every("1s"), job="j" * 100, name="n" * 200, payload={"a": "x" * (262_144 - 8)}, timeout=None,
            metadata={"owner_id": "o" * 128}, tags=["t" * 100] * 3, queue="q" * 200,
        )  # fmt: skip
        found = await app.schedules.get("k" * 200)
        assert found is not None
        assert found.definition == made.definition
        assert (await app.enqueue("j" * 100, deep(64))).payload == deep(64)


@pytest.mark.parametrize(
    "make, code",
    [
        (lambda: Cron("banana"), "SCHEDULE_CRON_INVALID"),
        (lambda: Cron("0 0 30 2 *"), "SCHEDULE_CRON_INVALID"),
        (lambda: Cron("0 2 * * *", "EST"), "SCHEDULE_TIMEZONE_INVALID"),
        (lambda: Every(milliseconds=999), "SCHEDULE_INTERVAL_TOO_SHORT"),
        (lambda: Every(days=10**9), "VALIDATION_FAILED"),
        (lambda: Every(hours=10**11), "VALIDATION_FAILED"),
        (lambda: Once(NAIVE), "VALIDATION_FAILED"),
        (lambda: Once("soon"), "VALIDATION_FAILED"),
        (lambda: Retry(max_attempts=0), "SCHEDULE_RETRY_POLICY_INVALID"),
        (lambda: Retry(backoff="linear"), "SCHEDULE_RETRY_POLICY_INVALID"),  # type: ignore[arg-type]
        (lambda: Retry(delay=math.nan), "SCHEDULE_RETRY_POLICY_INVALID"),
        (lambda: CatchUp("never"), "VALIDATION_FAILED"),  # type: ignore[arg-type]
        (lambda: CatchUp(max_runs=0), "VALIDATION_FAILED"),
        (lambda: CatchUp(max_lateness=1e18), "VALIDATION_FAILED"),  # type: ignore[arg-type]
        (lambda: CatchUp(max_lateness=math.nan), "VALIDATION_FAILED"),  # type: ignore[arg-type]
        (lambda: CatchUp(max_lateness=math.inf), "VALIDATION_FAILED"),  # type: ignore[arg-type]
        (lambda: Jitter(-1, 5), "VALIDATION_FAILED"),
        (lambda: Snooze(), "VALIDATION_FAILED"),
        (lambda: Snooze(days=1e12), "VALIDATION_FAILED"),
        (lambda: Snooze(seconds=math.nan), "VALIDATION_FAILED"),
        (lambda: Snooze(minutes="5"), "VALIDATION_FAILED"),  # type: ignore[arg-type]
    ],
)
def test_a_bad_value_is_refused_where_it_is_made(make: Any, code: str) -> None:
    with pytest.raises(DulyError) as raised:
        make()
    assert raised.value.code == code


@pytest.mark.parametrize("at", EXTREMES, ids=str)
async def test_an_instant_out_of_range_is_refused_wherever_it_is_given(make_app: MakeApp, at: datetime) -> None:
    async with make_app(roles=()) as app:
        await app.schedules.create("k", Every("1h"), job="work")
        calls: dict[str, Callable[[], Awaitable[object]]] = {
            "start_at": lambda: app.schedules.create("far", Every("1h"), job="work", start_at=at),
            "end_at": lambda: app.schedules.update("k", end_at=at),
            "anchor": lambda: app.schedules.create("far", Every("1h", anchor=at), job="work"),
            "until": lambda: app.schedules.pause("k", until=at),
            "run_at": lambda: app.enqueue("work", run_at=at),
            "after": lambda: app.schedules.preview(Cron("0 2 * * *", "Asia/Kolkata"), after=at),
            "from": lambda: app.schedules.backfill("k", from_=at, to=FUTURE),
            "to": lambda: app.schedules.backfill("k", from_=PAST, to=at),
        }
        for field, call in calls.items():
            with pytest.raises(
                Invalid, match="an aware datetime" if field == "anchor" and at in EXTREMES[2:] else field
            ):
                await call()
        with pytest.raises(Invalid):
            await app.schedules.create("far", Once(at, on_past="fire"), job="work")
        (kept,) = (await app.schedules.list()).items
        assert (kept.key, kept.enabled, kept.revision) == ("k", True, 1)
        assert (await app.runs.list()).items == []


def test_an_instant_that_no_datetime_can_show_is_shown_as_the_nearest() -> None:
    assert to_datetime(10**15) == to_datetime(10**30) == datetime.max.replace(microsecond=999_000, tzinfo=UTC)
    assert to_datetime(-(10**15)) == datetime.min.replace(tzinfo=UTC)


async def test_a_longer_least_interval_of_the_server_is_obeyed(make_app: MakeApp) -> None:
    from duly import Settings

    async with make_app(roles=(), settings=Settings(min_interval_ms=60_000)) as app:
        with pytest.raises(DulyError) as raised:
            await app.schedules.create("k", Every("59s"), job="work")
        assert raised.value.code == "SCHEDULE_INTERVAL_TOO_SHORT"
        assert await app.schedules.get("k") is None


async def test_bad_questions_are_refused_too(make_app: MakeApp) -> None:
    async with make_app(roles=()) as app:
        for call in (app.schedules.list, app.runs.list):
            for arguments in ({"limit": 0}, {"limit": 201}, {"limit": "5"}, {"status": "maybe"}):
                with pytest.raises(Invalid):
                    await call(**arguments)
        await app.schedules.create("k", Every("1h"), job="work")
        with pytest.raises(Invalid):
            await app.schedules.pause("k", until=NAIVE)
        with pytest.raises(Invalid):
            await app.schedules.pause("k", until=PAST)
        with pytest.raises(Invalid):
            await app.schedules.pause("k", reason="a\x00")
        with pytest.raises(Invalid):
            await app.schedules.pause("k", reason="a\x9b2J")
        with pytest.raises(Invalid):
            await app.schedules.trigger("k", math.nan)
        with pytest.raises(Invalid):
            await app.schedules.trigger("k", id="evt:not:yours")
        found = await app.schedules.get("k")
        assert found is not None
        assert (found.enabled, found.revision) == (True, 1)
        assert (await app.runs.list()).items == []


@dataclass
class Reading:
    celsius: float
    place: str = ""


async def test_a_dataclass_holds_no_number_that_json_has_not(make_app: MakeApp) -> None:
    app = make_app()

    @app.job("read", retry=Retry(max_attempts=1))
    async def read() -> Any:
        return {"readings": [Reading(math.nan)]}

    async with app:
        for payload in (Reading(math.inf), {"last": [Reading(math.nan)]}, Reading(1.5, "a\x00")):
            with pytest.raises(Invalid, match=r"payload.* (is inf|is nan|has a NUL)"):
                await app.enqueue("write", payload)
        assert (await app.enqueue("write", Reading(1.5))).payload == {"celsius": 1.5, "place": ""}
        end = await app.runs.wait((await app.enqueue("read")).id, timeout=PATIENCE)
        assert end.status == "failed"
        assert "NaN" in (end.error_message or "")


NO_TEXT: tuple[Any, ...] = (5, 2.5, True, b"x", ["a"], {}, FUTURE, "a\x00", "\ud800")


@pytest.mark.parametrize("wrong", NO_TEXT, ids=repr)
async def test_a_filter_that_no_row_could_have_is_refused_by_name(make_app: MakeApp, wrong: Any) -> None:
    """An answer without rows would say that there are none; and a driver's own error says nothing to a caller."""
    of_schedules = ("owner", "tenant", "job", "topic", "tag", "q")
    async with make_app(roles=()) as app:
        calls: list[tuple[Callable[..., Awaitable[object]], tuple[str, ...]]] = [
            *((call, of_schedules) for call in (app.schedules.list, app.schedules.count, app.schedules.pause_many)),
            (app.runs.list, ("schedule", "job", "workflow", "owner", "tenant")),
            *((call, ("schedule", "job", "error")) for call in (app.runs.dead, app.runs.dead_groups)),
            (app.runs.redrive_many, ("schedule", "queue", "tenant")),
            *((call, ("owner", "tenant")) for call in (app.schedules.coming, app.schedules.late)),
            *((call.list, ("tenant",)) for call in (app.calendars, app.webhooks)),
            (app.schedules.forecast, ("tenant",)),
            (app.audits.page, ("schedule", "tenant")),
        ]
        for call, words in calls:
            for word in words:
                with pytest.raises(Invalid, match=rf"{word} is .*; expected") as raised:
                    await call(**{word: wrong})
                assert raised.value.field == word
        if wrong is not True:
            for call, word in (
                (app.schedules.list, "enabled"),
                (app.schedules.count, "enabled"),
                (app.schedules.cancel_many, "everything"),
            ):
                with pytest.raises(Invalid, match=rf"{word} is .*; expected True or False"):
                    await call(**{word: wrong})


@pytest.mark.parametrize("wrong", [5, None, "vip", b"vip"], ids=repr)
async def test_marks_to_look_for_are_given_as_a_list_or_a_mapping(make_app: MakeApp, wrong: Any) -> None:
    async with make_app(roles=()) as app:
        with pytest.raises(Invalid, match=r"tags is .*; expected a list"):
            await app.runs.list(tags=wrong)
        with pytest.raises(Invalid, match=r"attributes is .*; expected a mapping"):
            await app.runs.list(attributes=wrong)
        if wrong is not None:
            for call in (app.runs.redrive_many, app.schedules.pause_many, app.schedules.count):
                with pytest.raises(Invalid, match=r"ids got .*; expected a list of ids"):
                    await call(ids=wrong)
        with pytest.raises(Invalid, match=r"ids\.1 is .*; expected text"):
            await app.schedules.pause_many(ids=["k", "\ud800"])
        with pytest.raises(Invalid, match=r"tags is .*; expected a list"):
            await app.schedules.create("k", Every("1h"), job="work", tags=wrong)


async def test_what_can_be_no_id_names_no_run(make_app: MakeApp) -> None:
    async with make_app(roles=()) as app:
        for ref in ("a\x00", "", "\ud800", "k" * 201):
            assert await app.runs.get(ref) is None
            for call in (app.runs.cancel, app.runs.wait, app.runs.redrive):
                with pytest.raises(NotFound):
                    await call(ref)
            with pytest.raises(NotFound):
                await app.workflows.signal(ref, "go")


@pytest.mark.parametrize("wrong", [None, 5, ["w"], {}], ids=repr)
async def test_a_workflow_is_started_by_its_name(make_app: MakeApp, wrong: Any) -> None:
    async with make_app(roles=()) as app:
        with pytest.raises(Invalid, match="workflow"):
            await app.workflows.start(wrong)
        assert (await app.runs.list()).items == []


@pytest.mark.parametrize(
    "make",
    [
        lambda: Duly("mysql://x"),
        lambda: Duly("duly.db"),
        lambda: Duly("sqlite://"),
        lambda: Duly("sqlite:///"),
        lambda: Duly("sqlite:///duly.db?mode=ro"),
        lambda: Duly("sqlite:///duly.db#main"),
        lambda: Duly("sqlite:///50%.db"),
        lambda: Duly(roles="worker"),
        lambda: Duly(roles=("cook",)),
    ],
)
def test_a_bad_app_is_refused_when_it_is_made(make: Any) -> None:
    with pytest.raises(ConfigurationError):
        make()


async def test_percent_escapes_in_the_name_of_a_file_are_read(tmp_path: Path) -> None:
    async with Duly(f"sqlite:///{tmp_path}/50%25%20of%3Fit.db", roles=()):
        assert (tmp_path / "50% of?it.db").exists()


@rule("K2")
def test_bad_settings_are_refused_and_say_why() -> None:
    from duly import Settings

    for arguments, word in (
        ({"lease": 10, "heartbeat": 5}, "third"),
        ({"poll": 0}, "poll"),
        ({"concurrency": 0}, "concurrency"),
        ({"lease": -1}, "lease"),
        ({"retention": "30 days"}, "retention"),
        ({"retention_failed": -1}, "retention_failed"),
        ({"retention_count_failed": 1.5}, "retention_count_failed"),
        ({"threads": True}, "threads"),
        ({"catchup_default": "sometimes"}, "latest | skip | all"),
        ({"strict_ids": "yes"}, "strict_ids"),
    ):
        with pytest.raises(ConfigurationError, match=word):
            Settings(**arguments)


async def test_a_refusal_says_what_to_write_instead(make_app: MakeApp) -> None:
    async with make_app(roles=()) as app:
        for words, message in (
            ({"jitter": 5}, "jitter is 5; expected (min_ms, max_ms) in whole milliseconds, or None"),
            ({"metadata": "ann"}, "metadata is 'ann'; expected a mapping with some of owner_id, tenant_id,"),
            ({"name": 5}, "name is 5; expected text"),
        ):
            with pytest.raises(Invalid) as refused:
                await app.schedules.create(**good(**words))
            assert message in str(refused.value)
        first = await app.schedules.create(**good(metadata={"client_request_id": "r-1"}))
        with pytest.raises(DulyError, match=f"for schedule {first.id}; take that schedule as made, or give another id"):
            await app.schedules.create(**good(key="k2", metadata={"client_request_id": "r-1"}))
