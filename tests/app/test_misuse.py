"""Mistakes that everybody makes once: each is answered by what to do instead."""

import asyncio
import logging
import math
import signal
import subprocess
import sys
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import duly
from duly import Duly, DulyError, Every, Retry
from duly.core.errors import ConfigurationError, NotFound, ValidationFailed
from duly.core.instants import to_datetime
from tests.app.conftest import PATIENCE, MakeApp, until
from tests.store_choice import postgres_too


async def test_a_closed_app_says_how_to_open_it(app: Duly) -> None:
    for call in (
        lambda: app.schedules.create("k", Every("1h"), job="work"),
        lambda: app.schedules.get("k"),
        lambda: app.enqueue("work"),
        lambda: app.runs.list(),
    ):
        with pytest.raises(DulyError, match="async with app"):
            await call()


async def test_an_app_that_was_closed_says_so_too_and_can_be_opened_again(app: Duly) -> None:
    await app.open()
    await app.close()
    with pytest.raises(DulyError, match="not open"):
        await app.enqueue("work")
    await app.open()
    assert (await app.enqueue("work")).job == "work"
    await app.close()


def test_a_decorator_without_parentheses_is_refused(app: Duly) -> None:
    with pytest.raises(DulyError, match="parentheses"):

        @app.job  # type: ignore[arg-type]
        async def work() -> None: ...


@pytest.mark.parametrize("options", [{"cron": "* * * * *"}, {"every": "1s"}, {"tz": "UTC"}])
async def test_an_option_that_does_not_exist_is_named(app: Duly, options: dict[str, Any]) -> None:
    async with app:
        with pytest.raises(DulyError, match=next(iter(options))):
            await app.schedules.create("k", Every("1h"), job="work", **options)
        with pytest.raises(DulyError, match=next(iter(options))):
            await app.schedules.create_many([{"key": "k", "timing": Every("1h"), "job": "work", **options}])
        with pytest.raises(DulyError, match=next(iter(options))):
            await app.enqueue("work", **options)
        assert (await app.schedules.list()).items == []
        assert (await app.runs.list()).items == []


@pytest.mark.parametrize("given, meant", [("evry", "every"), ("time_out", "timeout"), ("prioritty", "priority")])
def test_an_option_of_a_job_that_is_misspelt_gets_a_hint(app: Duly, given: str, meant: str) -> None:
    with pytest.raises(DulyError, match=f"job has no option '{given}'; did you mean '{meant}'"):
        app.job("work", **{given: "5s"})  # type: ignore[arg-type]


def test_a_retry_that_is_no_retry_is_refused_where_it_is_written(app: Duly) -> None:
    with pytest.raises(DulyError, match="Retry"):
        app.job("work", retry=5)(lambda: None)  # type: ignore[arg-type]


async def test_run_inside_a_loop_names_the_other_way(app: Duly) -> None:
    with pytest.raises(DulyError, match="async with app"):
        app.run()


async def test_a_page_cursor_that_is_none_is_refused_on_every_store(app: Duly) -> None:
    async with app:
        with pytest.raises(DulyError, match="next_cursor"):
            await app.schedules.list(cursor="abc")
        with pytest.raises(DulyError, match="next_cursor"):
            await app.runs.list(cursor="abc")


@postgres_too("two starts at once")
async def test_two_starts_at_once_are_one_start(app: Duly) -> None:
    results = await asyncio.gather(app.start(), app.start(), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["ConfigurationError", "NoneType"]
    await app.stop(grace=0)


async def test_a_failed_attempt_is_in_the_log(make_app: MakeApp, caplog: pytest.LogCaptureFixture) -> None:
    app = make_app()

    @app.job("boom", retry=Retry(max_attempts=1))
    async def boom() -> None:
        raise ValueError("no luck")

    with caplog.at_level(logging.WARNING, "duly.engine"):
        async with app:
            run = await app.runs.wait((await app.enqueue("boom")).id, timeout=20)
    assert run.status is duly.RunStatus.FAILED
    assert "'boom'" in caplog.text
    assert "ValueError: no luck" in caplog.text


async def test_what_is_no_text_is_refused_by_name(app: Duly) -> None:
    async with app:
        for call in (
            lambda: app.schedules.get(None),  # type: ignore[arg-type]
            lambda: app.schedules.pause(5),  # type: ignore[arg-type]
            lambda: app.schedules.trigger(b"k"),  # type: ignore[arg-type]
            lambda: app.schedules.changes(None),  # type: ignore[arg-type]
            lambda: app.runs.get(None),  # type: ignore[arg-type]
            lambda: app.runs.cancel(5),  # type: ignore[arg-type]
        ):
            with pytest.raises(ValidationFailed, match=r"ref is .*; expected the id or key of a"):
                await call()
        run = await app.enqueue("work")
        for timeout in ("5", -1, True):
            with pytest.raises(ValidationFailed, match=r"timeout is .*; expected seconds"):
                await app.runs.wait(run.id, timeout=timeout)  # type: ignore[arg-type]


def test_a_url_that_is_no_text_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"expected text such as 'sqlite:///duly\.db'"):
        Duly(Path("duly.db"))  # type: ignore[arg-type]


def test_a_bad_word_of_a_decorator_is_refused_where_it_is_written(app: Duly) -> None:
    with pytest.raises(ValidationFailed, match="overlap is 'bogus'; expected skip"):

        @app.job("work", every="1h", overlap="bogus")
        async def work() -> None: ...


@pytest.mark.parametrize("url, code, words", [
    ("postgresql://nobody@127.0.0.1:1/none", 69, "cannot connect to PostgreSQL"),
    ("sqlite:////nowhere/at/all/duly.db", 78, "does not exist"),
])  # fmt: skip
def test_run_without_its_database_is_one_line(
    capsys: pytest.CaptureFixture[str], url: str, code: int, words: str
) -> None:
    with pytest.raises(SystemExit) as left:
        Duly(url).run()
    told = capsys.readouterr().err.strip()
    assert (left.value.code, told.startswith("duly: "), words in told) == (code, True, True), told
    assert "Traceback" not in told


ONCE = Retry(max_attempts=1)
LEAVES: list[BaseException] = [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError("own")]


async def test_what_would_end_a_program_ends_one_attempt_of_a_handler_in_a_thread(app: Duly) -> None:
    @app.job("leave", retry=ONCE)
    def leave(number: int) -> None:
        raise LEAVES[number]

    async with app:
        runs = [await app.enqueue("leave", {"number": number}) for number in range(len(LEAVES))]
        ends = [await app.runs.wait(run.id, timeout=PATIENCE) for run in runs]
    texts = [end.error_message for end in ends]
    assert texts == ["SystemExit: 3", "KeyboardInterrupt", "GeneratorExit", "CancelledError: own"]


async def test_a_listener_that_exits_fails_its_run_and_not_the_app(app: Duly) -> None:
    told: list[str] = []

    @app.on("schedule.plain.arrived")
    def plain(event: duly.ScheduleArrived) -> None:
        sys.exit("enough")

    @app.on("schedule.coroutine.arrived")
    async def coroutine(event: duly.ScheduleArrived) -> None:
        sys.exit("enough")

    @app.on("run.failed")
    async def failed(event: duly.Event) -> None:
        told.append(event.name)
        sys.exit("of this too")

    async with app:
        for topic in ("plain", "coroutine"):
            await app.schedules.create(topic, Every("1h"), topic=topic, retry=ONCE)
            end = await app.runs.wait((await app.schedules.trigger(topic)).id, timeout=PATIENCE)
            assert (end.status, end.error_message) == (duly.RunStatus.FAILED, "SystemExit: enough")
        await until(lambda: told == ["run.failed", "run.failed"])


async def test_a_step_or_a_body_that_exits_fails_its_workflow_and_not_the_app(app: Duly) -> None:
    async def leave() -> None:
        sys.exit("enough")

    @app.workflow("leaving", version="1")
    async def leaving(ctx: duly.WorkflowContext, how: str) -> None:
        if how == "body":
            sys.exit("enough")
        await ctx.step("leave", leave if how == "coroutine" else lambda: sys.exit("enough"), retry=ONCE)

    async with app:
        for how in ("body", "coroutine", "thread"):
            end = await app.runs.wait((await app.workflows.start("leaving", how)).id, timeout=PATIENCE)
            assert end.status is duly.RunStatus.FAILED
            assert "SystemExit: enough" in (end.error_message or "")


async def test_an_object_whose_call_is_async_is_awaited(app: Duly) -> None:
    told: list[str] = []

    class Work:
        async def __call__(self, number: int) -> int:
            return number

    class Listen:
        async def __call__(self, event: duly.ScheduleArrived) -> None:
            told.append(event.topic)

    app.job("work")(Work())
    app.on("schedule.rent.arrived")(Listen())
    async with app:
        end = await app.runs.wait((await app.enqueue("work", {"number": 5})).id, timeout=PATIENCE)
        assert (end.status, end.result) == (duly.RunStatus.COMPLETED, 5)
        await app.schedules.create("rent", Every("1h"), topic="rent")
        await app.runs.wait((await app.schedules.trigger("rent")).id, timeout=PATIENCE)
    assert told == ["rent"]


INTERRUPTS = """
import sys, duly

app = duly.Duly("sqlite:///jobs.db")

@app.job("interrupt", retry=duly.Retry(max_attempts=2, delay=0))
async def interrupt():
    raise KeyboardInterrupt

if __name__ == "__main__":
    if sys.argv[1:]:
        app.sync.enqueue("interrupt")
    app.run()
"""


@pytest.mark.processes
async def test_a_handler_that_interrupts_its_process_spends_an_attempt_each_time(tmp_path: Path) -> None:
    """Else whoever starts the process again has it interrupted for ever."""
    (tmp_path / "program.py").write_text(INTERRUPTS)
    for arguments in (["first"], []):
        command = [sys.executable, "program.py", *arguments]
        ended = await asyncio.to_thread(subprocess.run, command, cwd=tmp_path, timeout=PATIENCE, capture_output=True)
        assert ended.returncode == -signal.SIGINT, ended.stderr.decode()
    async with Duly(f"sqlite:///{tmp_path / 'jobs.db'}", roles=()) as app:
        (run,) = (await app.runs.list()).items
    assert (run.status, run.attempt, run.error_message) == (duly.RunStatus.FAILED, 2, "KeyboardInterrupt")


async def test_a_switch_takes_nothing_but_true_and_false(make_app: MakeApp) -> None:
    async with make_app(roles=()) as app:
        await app.schedules.create("k", Every("1h"), job="work")
        await app.schedules.pause("k")
        at = to_datetime(0)
        wrong: Any = "no"
        calls: dict[str, Callable[[], Any]] = {
            "catch_up": lambda: app.schedules.resume("k", catch_up=wrong),
            "force": lambda: app.schedules.trigger("k", force=wrong),
            "cancel_running": lambda: app.schedules.delete("k", cancel_running=wrong),
            "purge": lambda: app.schedules.delete("k", purge=wrong),
            "dry_run": lambda: app.schedules.backfill("k", at, at, dry_run=wrong),
            "force is 'no'": lambda: app.schedules.backfill("k", at, at, force=wrong),
            "compensate": lambda: app.workflows.cancel("w", compensate=wrong),
            "force is": lambda: app.runs.redrive_many(force=wrong),
        }
        for word, call in calls.items():
            with pytest.raises(ValidationFailed, match=f"{word}.*expected True or False"):
                await call()
        found = await app.schedules.get("k")
        assert found is not None
        assert not found.enabled
        assert (await app.runs.list()).items == []


@pytest.mark.parametrize("wrong", ["1", 1.0, True])
async def test_a_revision_is_a_whole_number(make_app: MakeApp, wrong: Any) -> None:
    async with make_app(roles=()) as app:
        await app.schedules.create("k", Every("1h"), job="work")
        await app.calendars.put("holidays")
        calls: list[Callable[[], Any]] = [
            lambda: app.schedules.update("k", if_revision=wrong, priority=1),
            lambda: app.schedules.put("k", Every("1h"), "work", if_revision=wrong),
            lambda: app.schedules.pause("k", if_revision=wrong),
            lambda: app.schedules.trigger("k", if_revision=wrong),
            lambda: app.schedules.reschedule("k", timing=Every("2h"), if_revision=wrong),
            lambda: app.calendars.put("holidays", if_revision=wrong),
        ]
        for call in calls:
            with pytest.raises(ValidationFailed, match=r"if_revision is .*expected"):
                await call()
        assert (await app.runs.list()).items == []


async def test_an_empty_search_finds_everything(make_app: MakeApp) -> None:
    async with make_app(roles=()) as app:
        await app.schedules.create("k", Every("1h"), job="work")
        assert [schedule.key for schedule in (await app.schedules.list(q="")).items] == ["k"]


async def test_what_can_be_no_key_names_no_schedule(make_app: MakeApp) -> None:
    async with make_app(roles=()) as app:
        for ref in ("a\x00", "", "a b", "\ud800", "k" * 201):
            assert await app.schedules.get(ref) is None
            with pytest.raises(NotFound):
                await app.schedules.pause(ref)


async def test_a_wait_without_an_end_that_can_be_reached_is_refused(make_app: MakeApp) -> None:
    async with make_app(roles=()) as app:
        run = await app.enqueue("work")
        with pytest.raises(ValidationFailed, match="timeout is nan; expected seconds"):
            await app.runs.wait(run.id, timeout=math.nan)


def test_a_listener_without_the_name_of_an_event_is_told_what_to_write(app: Duly) -> None:
    wrong: Any = lambda event: None
    with pytest.raises(ConfigurationError, match=r"write @app.on\('schedule.arrived'\)"):
        app.on(wrong)
    with pytest.raises(ConfigurationError, match="event is 5; expected"):
        app.on(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("roles", [None, 5, "worker", ["waiter"]])
def test_roles_are_some_of_those_that_there_are(roles: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"roles is .*; expected some of .*worker"):
        Duly("sqlite:///never.db", roles=roles)


@pytest.mark.parametrize("wrong", [None, 5, {"key": "k"}, "k"])
async def test_what_is_given_many_of_is_a_list(make_app: MakeApp, wrong: Any) -> None:
    async with make_app(roles=()) as app:
        with pytest.raises(ValidationFailed, match=r"create_many got .*; expected a list of mappings"):
            await app.schedules.create_many(wrong)
        with pytest.raises(ValidationFailed, match=r"enqueue_many got .*; expected a list of payloads"):
            await app.runs.enqueue_many("work", wrong)


async def test_who_cannot_reschedule_is_told_what_can_be_done_instead(make_app: MakeApp) -> None:
    async with make_app(roles=()) as app:
        made = await app.schedules.create("k", Every("1h"), job="work")
        await app.schedules.cancel("k")
        with pytest.raises(DulyError, match="is cancelled; only a pending one can be rescheduled: create a new one"):
            await app.schedules.reschedule(made.id, timing=Every("2h"))


async def test_a_target_that_is_a_word_is_answered_by_what_a_target_looks_like(make_app: MakeApp) -> None:
    async with make_app(roles=()) as app:
        wrong: Any = "q"
        with pytest.raises(ValidationFailed, match=r"target is 'q'; expected \{.kind.: .queue."):
            await app.schedules.create("k", Every("1h"), target=wrong)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"name": 5}, "name is 5; expected text"),
        ({"name": ""}, "name is ''; expected text"),
        ({"schedules": 5}, "schedules got 5; expected a list of mappings"),
        ({"schedules": {"key": "k"}}, "schedules got .*; expected a list of mappings"),
        ({"lifespan": 5}, "lifespan is 5; expected a function"),
        ({"settings": {"lease": 30}}, r"settings is .*; expected duly\.Settings\("),
        ({"url": ""}, "the database URL is ''; expected text such as"),
    ],
)
def test_what_an_app_cannot_be_made_of_is_named(given: dict[str, Any], says: str) -> None:
    with pytest.raises(DulyError, match=says):
        Duly(**{"url": "sqlite:///never.db", **given})


def test_a_workflow_has_a_name_that_is_one(app: Duly) -> None:
    for wrong in ("", 5, "x" * 101):
        with pytest.raises(DulyError, match=r"name is .*; expected"):
            app.workflow(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ask", "word", "meant"),
    [
        ("runs.list", "schedule_id", "schedule"),
        ("runs.list", "job_type", "job"),
        ("runs.iterate", "owner_id", "owner"),
        ("runs.dead", "schedule_id", "schedule"),
        ("runs.dead", "job_type", "job"),
        ("schedules.list", "owner_id", "owner"),
        ("schedules.list", "job_type", "job"),
        ("schedules.iterate", "tenant_id", "tenant"),
        ("calendars.list", "tenant_id", "tenant"),
        ("calendars.iterate", "tenant_id", "tenant"),
        ("webhooks.list", "tenant_id", "tenant"),
        ("webhooks.iterate", "tenant_id", "tenant"),
    ],
)
async def test_a_filter_that_does_not_exist_is_answered_by_the_one_that_is_meant(
    make_app: MakeApp, ask: str, word: str, meant: str
) -> None:
    async with make_app(roles=()) as app:
        with pytest.raises(ValidationFailed, match=f"has no option '{word}'; did you mean '{meant}'"):
            await _answered(attrgetter(ask)(app)(**{word: "x"}))
        with pytest.raises(ValidationFailed, match="has no option 'colour'; expected some of"):
            await _answered(attrgetter(ask)(app)(colour="red"))


async def _answered(asked: Any) -> Any:
    return [item async for item in asked] if hasattr(asked, "__anext__") else await asked


async def test_a_workflow_is_no_job_and_a_job_is_no_workflow(make_app: MakeApp) -> None:
    app = make_app(roles=())
    hourly = Every("1h")

    @app.workflow("order")
    async def order(ctx: duly.WorkflowContext) -> None: ...

    @app.job("mail")
    async def mail() -> None: ...

    wrong: Any
    async with app:
        for wrong in ("order", order):
            with pytest.raises(
                ValidationFailed, match=r"job is 'order'.*start it with app\.workflows\.start\('order'\)"
            ):
                await app.enqueue(wrong)
            with pytest.raises(ValidationFailed, match=r"app\.workflows\.start\('order'\)"):
                await app.runs.enqueue_many(wrong, [{}])
            with pytest.raises(ValidationFailed, match=r"job is 'order'.* workflow='order'"):
                await app.schedules.create("k", hourly, job=wrong)
        for wrong in ("mail", mail):
            with pytest.raises(DulyError, match=r"workflow 'mail' .*it is a job here: write app\.enqueue\('mail'\)"):
                await app.workflows.start(wrong)
        with pytest.raises(ValidationFailed, match=r"workflow is 'mail'.* write job='mail'"):
            await app.schedules.create("k", hourly, workflow="mail")
        with pytest.raises(ValidationFailed, match="write workflow='order'"):
            await app.schedules.create_many([{"key": "k", "timing": hourly, "job": "order"}])
        await app.schedules.create("good", hourly, workflow="order")
        with pytest.raises(ValidationFailed, match="write workflow='order'"):
            await app.schedules.put("good", hourly, "order")
        with pytest.raises(ValidationFailed, match="write job='mail'"):
            await app.schedules.update("good", workflow="mail")
        (stored,) = (await app.schedules.list()).items
        assert (stored.key, stored.revision) == ("good", 1)
        assert (await app.runs.list()).items == []


async def test_what_this_app_does_not_know_another_worker_may(make_app: MakeApp) -> None:
    app = make_app(roles=())

    @app.workflow("both")
    async def flow(ctx: duly.WorkflowContext) -> None: ...

    @app.job("both")
    async def job() -> None: ...

    async with app:
        for name in ("unknown", "both", "both@1"):
            assert (await app.enqueue(name)).job == name
            assert (await app.schedules.create(f"j-{name}", Every("1h"), job=name)).definition.target.name == name
            assert (await app.schedules.create(f"w-{name}", Every("1h"), workflow=name)).definition.target.name == name
        assert (await app.workflows.start("both")).workflow == "both"


@pytest.mark.parametrize("wrong", [5, None, b"k"])
@postgres_too("other values cannot be stored")
async def test_what_is_no_text_is_no_id_and_no_name(make_app: MakeApp, wrong: Any) -> None:
    async with make_app(roles=()) as app:
        webhooks, operations, calendars = app.webhooks, app.operations, app.calendars
        calls: list[Callable[[Any], Any]] = [webhooks.get, webhooks.update, webhooks.rotate, webhooks.delete]
        calls += [webhooks.test, operations.get, operations.drive, app.keys.get, app.keys.rotate, app.keys.revoke]
        for call in calls:
            with pytest.raises(ValidationFailed, match=r"id is .*; expected the id of .*, as text"):
                await call(wrong)
        for call in (calendars.get, calendars.delete):
            with pytest.raises(ValidationFailed, match=r"name is .*; expected the name of a calendar, as text"):
                await call(wrong)


@postgres_too("other values cannot be stored")
async def test_what_no_database_could_keep_is_not_looked_for_there(make_app: MakeApp) -> None:
    async with make_app(roles=()) as app:
        await app.schedules.create("k", Every("1h"), job="work")
        for name in ("\ud800", "a\x00", "", "a b"):
            assert await app.calendars.get(name) is None
            await app.calendars.delete(name)
            assert await app.operations.get(name) is None
            assert await app.webhooks.get(name) is None
            assert await app.keys.get(name) is None
            for change in (app.operations.drive, app.webhooks.rotate, app.keys.rotate, app.keys.revoke):
                with pytest.raises(NotFound):
                    await change(name)
        wrong: Any
        looks: list[Callable[..., Any]] = [app.schedules.get, app.schedules.changes, app.calendars.get]
        for look in (*looks, app.calendars.delete):
            for wrong in ("\ud800", "a\x00", 5):
                with pytest.raises(ValidationFailed, match=r"tenant is .*; expected text"):
                    await look("k", tenant=wrong)
