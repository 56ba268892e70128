"""Celery's beat and APScheduler: the objects as they are, without the packages, and their JSON."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from duly.cli.importing import apscheduler, celery
from duly.cli.importing.values import Imported, Left
from duly.cli.importing.weekdays import weekdays_of

NAIVE = datetime(2027, 1, 1, tzinfo=UTC).replace(tzinfo=None)


class crontab:  # noqa: N801 - the name of the class is what is looked at
    def __init__(self, minute: Any = "*", hour: Any = "*", **days: Any) -> None:
        self._orig_minute = minute
        self._orig_hour = hour
        self._orig_day_of_week = days.get("day_of_week", "*")
        self._orig_day_of_month = days.get("day_of_month", "*")
        self._orig_month_of_year = days.get("month_of_year", "*")


@dataclass
class schedule:  # noqa: N801
    run_every: timedelta
    relative: bool = False


@dataclass
class solar:  # noqa: N801
    event: str = "sunset"


def beat(*, tasks: Any = (), **entry: Any) -> Imported:
    conf = SimpleNamespace(beat_schedule={"e": {"task": "shop.report", **entry}}, timezone="Europe/Berlin")
    found = Imported()
    celery.read_beat(SimpleNamespace(conf=conf, tasks=dict(tasks)), found)
    return found


@pytest.mark.parametrize(
    ("given", "timing"),
    [
        (crontab(30, "2,14"), {"cronExpression": "30 2,14 * * *", "timezone": "Europe/Berlin"}),
        (crontab("*/15", day_of_week="mon-fri"), {"cronExpression": "*/15 * * * MON-FRI", "timezone": "Europe/Berlin"}),
        (crontab([0, 30], {9, 17}), {"cronExpression": "0,30 9,17 * * *", "timezone": "Europe/Berlin"}),
        (crontab(0, 0, day_of_month="1"), {"cronExpression": "0 0 1 * *", "timezone": "Europe/Berlin"}),
        (crontab(0, 0, month_of_year="1,7"), {"cronExpression": "0 0 * 1,7 *", "timezone": "Europe/Berlin"}),
        (30.0, {"everyMs": 30_000, "anchor": "start"}),
        (timedelta(hours=2), {"everyMs": 7_200_000, "anchor": "start"}),
        (schedule(timedelta(minutes=5)), {"everyMs": 300_000, "anchor": "start"}),
        (schedule(timedelta(minutes=5), relative=True), {"everyMs": 300_000, "anchor": "epoch"}),
    ],
)
def test_a_schedule_of_celery_keeps_its_time(given: Any, timing: dict[str, Any]) -> None:
    found = beat(schedule=given, kwargs={"x": 1})
    assert not found.left
    body = found.carried[0].body
    assert {name: body[name] for name in timing} == timing
    assert (body["jobType"], body["jobPayload"], body["overlapPolicy"]) == ("shop.report", {"x": 1}, "allow")
    assert (body["maxAttempts"], body["catchUp"]) == (1, {"policy": "latest"})


def test_options_and_arguments_of_celery() -> None:
    found = beat(schedule=60, options={"queue": "mail", "expires": 90, "priority": 5, "routing_key": "a.b"})
    (one,) = found.carried
    assert (one.body["queue"], one.body["priority"]) == ("mail", 5)
    assert one.body["catchUp"] == {"policy": "latest", "maxLatenessSeconds": 90.0}
    assert [note.partition(":")[0] for note in one.notes] == ["priority", "expires", "not carried over"]

    def report(a: int, *, b: int = 2) -> None: ...

    tasks = {"shop.report": SimpleNamespace(run=report)}
    assert beat(schedule=60, args=(7,), kwargs={"b": 3}, tasks=tasks).carried[0].body["jobPayload"] == {"a": 7, "b": 3}


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"schedule": crontab(0, 0, day_of_month="13", day_of_week="fri")}, "both agree"),
        ({"schedule": crontab("99")}, "cron field 'minute' is '99'"),
        ({"schedule": solar()}, "the sun"),
        ({"schedule": 0.5}, "0.5 s"),
        ({"schedule": object()}, "is a object"),
        ({"schedule": 60, "args": (1,)}, "by position"),
        ({"schedule": 60, "kwargs": {"x": datetime(2027, 1, 1, tzinfo=UTC)}}, "not JSON"),
        ({"schedule": 60, "kwargs": {"x": float("nan")}}, "not JSON"),
        ({"schedule": 60, "task": None}, "its job"),
        (
            {"schedule": 60, "options": {"expires": NAIVE}},
            "without an offset",
        ),
        ({}, "a task and a schedule"),
    ],
)
def test_what_celery_has_and_we_have_not_is_left(entry: dict[str, Any], reason: str) -> None:
    found = beat(**entry)
    assert not found.carried
    assert reason in found.left[0].reason


def test_something_else_than_an_app_is_refused() -> None:
    with pytest.raises(Left, match="beat_schedule"):
        celery.read_beat(SimpleNamespace(), Imported())
    with pytest.raises(Left, match="dumpdata"):
        celery.read_dump({"a": 1}, Imported())
    with pytest.raises(Left, match="periodictask"):
        celery.read_dump([{"model": "auth.user", "pk": 1, "fields": {}}], Imported())


def test_a_dump_of_django_celery_beat() -> None:
    def row(model: str, pk: int, **fields: Any) -> dict[str, Any]:
        return {"model": f"django_celery_beat.{model}", "pk": pk, "fields": fields}

    cron = {"minute": "0", "hour": "3", "day_of_week": "*", "day_of_month": "*", "month_of_year": "*"}
    rows = [
        row("crontabschedule", 1, **cron, timezone="Asia/Tokyo"),
        row("intervalschedule", 2, every=10, period="minutes"),
        row("clockedschedule", 3, clocked_time="2099-01-01T00:00:00Z"),
        row("periodictask", 1, name="Daily report", task="shop.report", crontab=1, args="[]", kwargs='{"x": 1}',
            queue="mail", enabled=False, description="for the boss", expire_seconds=60),
        row("periodictask", 2, name="poll", task="shop.poll", interval=2, one_off=True,
            start_time="2099-01-01T00:00:00Z", expires="2099-02-01T00:00:00Z", enabled=True),
        row("periodictask", 3, name="once", task="shop.once", clocked=3, one_off=True, enabled=True),
        row("periodictask", 4, name="sun", task="shop.sun", solar=9),
        row("periodictask", 5, name="lost", task="shop.lost", crontab=77),
        row("periodictask", 6, name="celery.backend_cleanup", task="celery.backend_cleanup", crontab=1),
        row("periodictask", 7, name="args", task="shop.args", interval=2, args="[1]"),
    ]  # fmt: skip
    found = Imported()
    celery.read_dump(json.loads(json.dumps(rows)), found)
    daily, poll, once = (one.body for one in found.carried)
    assert (daily["key"], daily["cronExpression"], daily["timezone"]) == ("Daily-report", "0 3 * * *", "Asia/Tokyo")
    assert (daily["enabled"], daily["queue"], daily["description"]) == (False, "mail", "for the boss")
    assert daily["catchUp"]["maxLatenessSeconds"] == 60.0
    assert (poll["everyMs"], poll["maxRuns"], poll["startAt"], poll["endAt"]) == (
        600_000, 1, "2099-01-01T00:00:00Z", "2099-02-01T00:00:00Z"
    )  # fmt: skip
    assert once["onceAt"] == "2099-01-01T00:00:00Z"
    assert "maxRuns" not in once
    assert [left.place for left in found.left] == ["sun", "lost", "celery.backend_cleanup", "args"]


@dataclass
class Field:
    name: str
    value: str

    def __str__(self) -> str:
        return self.value


@dataclass
class CronTrigger:
    given: dict[str, str]
    timezone: str = "Europe/Berlin"
    jitter: int | None = None
    start_date: Any = None
    end_date: Any = None

    @property
    def fields(self) -> list[Field]:
        every = {"hour": "0", "minute": "0", "second": "0"}
        return [Field(name, self.given.get(name, every.get(name, "*"))) for name in apscheduler.FIELDS]


@dataclass
class IntervalTrigger:
    interval: timedelta
    start_date: datetime
    timezone: str = "UTC"


@dataclass
class DateTrigger:
    run_date: datetime


class AndTrigger: ...


def tick(a: int, b: int = 2) -> None: ...


@dataclass
class Job:
    trigger: Any
    id: str = "j"
    name: str = "tick"
    func_ref: str = "shop:tick"
    func: Callable[..., None] = tick
    args: tuple[Any, ...] = (1,)
    kwargs: dict[str, Any] = field(default_factory=dict)
    coalesce: bool = True
    max_instances: int = 1
    misfire_grace_time: int | None = 60
    next_run_time: datetime | None = datetime(2027, 1, 1, tzinfo=UTC)


def jobs(*found: Any) -> Imported:
    into = Imported()
    apscheduler.read_scheduler(SimpleNamespace(get_jobs=lambda: list(found)), into)
    return into


@pytest.mark.parametrize(
    ("given", "expression"),
    [
        ({"hour": "2"}, "0 2 * * *"),
        ({"day_of_week": "0-4", "hour": "9", "minute": "30"}, "30 9 * * MON,TUE,WED,THU,FRI"),
        ({"day_of_week": "mon-fri"}, "0 0 * * MON,TUE,WED,THU,FRI"),
        ({"day_of_week": "6"}, "0 0 * * SUN"),
        ({"day_of_week": "*/2"}, "0 0 * * MON,WED,FRI,SUN"),
        ({"day_of_week": "*"}, "0 0 * * *"),
        ({"day": "2nd tue"}, "0 0 * * 2#2"),
        ({"day": "1st sun"}, "0 0 * * 0#1"),
        ({"day": "last fri"}, "0 0 * * 5L"),
        ({"day": "last"}, "0 0 L * *"),
        ({"day": "*/5", "month": "jan-mar"}, "0 0 */5 JAN-MAR *"),
        ({"second": "*/10", "minute": "*", "hour": "*"}, "*/10 * * * * *"),
    ],
)
def test_a_cron_trigger_keeps_its_time(given: dict[str, str], expression: str) -> None:
    found = jobs(Job(CronTrigger(given)))
    assert not found.left
    body = found.carried[0].body
    assert (body["cronExpression"], body["timezone"]) == (expression, "Europe/Berlin")
    assert body["jobPayload"] == {"a": 1}


def test_the_finer_fields_of_a_trigger_in_json_are_at_their_least() -> None:
    def expression(**given: str) -> str:
        found = Imported()
        apscheduler.read_list([{"id": "j", "func": "f", "trigger": {"type": "cron", **given}}], found)
        assert not found.left
        return str(found.carried[0].body["cronExpression"])

    assert expression(day="1") == "0 0 1 * *"
    assert expression(hour="*") == "0 * * * *"
    assert expression(minute="*/5") == "*/5 * * * *"
    assert expression(month="6") == "0 0 1 6 *"
    assert expression(day_of_week="sun", minute="30") == "30 * * * SUN"
    assert expression() == "* * * * * *"


def test_policies_of_apscheduler() -> None:
    at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    found = jobs(
        Job(IntervalTrigger(timedelta(minutes=5), at), id="a"),
        Job(DateTrigger(datetime(2099, 1, 1, tzinfo=UTC)), id="b", next_run_time=None),
        Job(CronTrigger({}, jitter=30), id="c", coalesce=False, max_instances=3, misfire_grace_time=None),
        Job(CronTrigger({}, start_date=at, end_date=at), id="d", misfire_grace_time=1),
    )
    a, b, c, d = (one.body for one in found.carried)
    assert (a["everyMs"], a["anchor"], a["overlapPolicy"]) == (300_000, at.isoformat(), "skip")
    assert a["catchUp"] == {"policy": "latest", "maxLatenessSeconds": 60.0}
    assert (b["onceAt"], b["enabled"]) == ("2099-01-01T00:00:00+00:00", False)
    assert (c["jitter"], c["overlapPolicy"], c["maxConcurrent"]) == ({"minMs": 0, "maxMs": 30_000}, "allow", 3)
    assert c["catchUp"]["policy"] == "all"
    assert (d["startAt"], d["endAt"]) == (at.isoformat(), at.isoformat())
    assert [len(one.notes) for one in found.carried] == [0, 0, 2, 1]


def test_a_job_that_never_started_counts_from_the_import() -> None:
    job = Job(IntervalTrigger(timedelta(minutes=5), datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)))
    del job.next_run_time
    job_type = type("Pending", (), {**vars(job)})
    (one,) = jobs(job_type()).carried
    assert (one.body["anchor"], "startAt" in one.body, "enabled" in one.body) == ("start", False, False)


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        (Job(CronTrigger({"day": "13", "day_of_week": "fri"})), "both agree"),
        (Job(CronTrigger({"day": "2nd tue", "day_of_week": "fri"})), "both agree"),
        (Job(CronTrigger({"year": "2027"})), "year"),
        (Job(CronTrigger({"week": "*/2"})), "week"),
        (Job(CronTrigger({"day_of_week": "7"})), "0 for Monday"),
        (Job(CronTrigger({"day": "1,last"})), "its day"),
        (Job(AndTrigger()), "AndTrigger"),
        (Job(IntervalTrigger(timedelta(milliseconds=100), datetime(2026, 1, 1, tzinfo=UTC))), "0.1 s"),
        (Job(CronTrigger({}), args=(1, 2, 3)), "do not fit"),
        (Job(CronTrigger({}), args=(object(),)), "not JSON"),
        (Job(CronTrigger({}), func_ref="x" * 200), "its job"),
    ],
)
def test_what_apscheduler_has_and_we_have_not_is_left(job: Job, reason: str) -> None:
    found = jobs(job)
    assert not found.carried
    assert reason in found.left[0].reason


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        ({"func": "f"}, "its trigger"),
        ({"func": "f", "trigger": {"type": "sun"}}, "its trigger"),
        ({"func": "f", "trigger": {"type": "cron", "hours": 1}}, "'hours'"),
        ({"func": "f", "trigger": {"type": "interval", "fortnights": 1}}, "'fortnights'"),
        ({"func": "f", "trigger": {"type": "interval", "minutes": "x"}}, "cannot be read"),
        ({"func": "f", "trigger": {"type": "date"}}, "no run_date"),
        ({"func": "f", "trigger": {"type": "date", "run_date": "2099-01-01T00:00"}}, "with an offset"),
        ({"func": "f", "trigger": {"type": "date", "run_date": "soon"}}, "'soon'"),
        ({"func": "f", "trigger": {"type": "cron"}, "executor": "x"}, "'executor'"),
        ({"trigger": {"type": "cron"}}, "its job"),
        ({"func": "f", "args": [1], "trigger": {"type": "cron"}}, "by position"),
    ],
)
def test_json_that_does_not_say_it_is_left(job: dict[str, Any], reason: str) -> None:
    found = Imported()
    apscheduler.read_list([job], found)
    assert not found.carried
    assert reason in found.left[0].reason


def test_what_is_no_scheduler_is_refused() -> None:
    with pytest.raises(Left, match="get_jobs"):
        apscheduler.read_scheduler(object(), Imported())
    with pytest.raises(Left, match="APScheduler 4"):
        apscheduler.read_scheduler(SimpleNamespace(get_schedules=None), Imported())
    with pytest.raises(Left, match="JSON list"):
        apscheduler.read_list({"jobs": []}, Imported())


def test_weekdays_count_from_monday() -> None:
    assert weekdays_of("0,2,fri-sun") == "mon,wed,fri,sat,sun"
    assert weekdays_of("0-6") == "*"
    assert weekdays_of("1/2") == "tue,thu,sat"
    for bad in ("7", "fri-mon", "mon/0", "monday", ""):
        with pytest.raises(Left):
            weekdays_of(bad)
