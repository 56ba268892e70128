"""Dead letters from an app: looked into, redriven, acknowledged, and told of once, on both stores."""

import asyncio
from typing import Any

import pytest

from duly import DeadLetter, Duly, Every, Fatal, Retry, RunContext, RunStatus
from duly.app.dead import BATCH
from duly.core.errors import ConfigurationError, NotDead, NotFound, ValidationFailed
from tests.acceptance.rules import rule
from tests.app.conftest import MakeApp, until

NO_WAIT = Retry(max_attempts=2, delay=0, jitter=0)


@rule("F6")
async def test_f6_a_dead_run_is_looked_into_and_redriven_and_may_die_again(app: Duly) -> None:
    fails, may_begin = True, asyncio.Event()
    may_begin.set()
    calls: list[tuple[str, int]] = []

    @app.job("work", retry=NO_WAIT)
    async def work(run: RunContext, n: int) -> str:
        await may_begin.wait()
        calls.append((run.id, run.attempt))
        if fails:
            raise ValueError(f"no {n}")
        return "done"

    async with app:
        run = await app.enqueue("work", {"n": 7})
        await app.runs.wait(run.id, 20)
        (dead,) = (await app.runs.dead()).items
        assert (dead.id, dead.dead, dead.error_message) == (run.id, True, "ValueError: no 7")
        whole = await app.runs.get(run.id)
        assert whole is not None
        assert whole.payload == {"n": 7}
        may_begin.clear()  # otherwise it may be dead again before the next check
        again = await app.runs.redrive(run.id, by="ann")
        assert (again.id, (await app.runs.dead()).items) == (run.id, [])
        may_begin.set()
        assert (await app.runs.wait(run.id, 20)).status is RunStatus.FAILED
        fails = False
        await app.runs.redrive(run.id)
        assert (await app.runs.wait(run.id, 20)).result == "done"
        told = await app.runs.attempts(run.id)
    assert calls == [(run.id, 1), (run.id, 2)] * 2 + [(run.id, 1)]
    assert [(one.attempt_number, one.outcome, one.error_message) for one in told] == [
        (1, "failed", "ValueError: no 7"),
        (2, "failed", "ValueError: no 7"),
    ] * 2 + [(1, "completed", None)]
    assert told[0].started_at is not None
    assert told[0].instance is not None


@rule("F9")
async def test_f9_a_redrive_with_another_payload_is_a_new_run_and_the_old_one_stays(app: Duly) -> None:
    @app.job("work")
    async def work(n: int) -> int:
        if n < 0:
            raise Fatal("below zero")
        return n

    async with app:
        old = await app.enqueue("work", {"n": -1})
        await app.runs.wait(old.id, 20)
        with pytest.raises(ValidationFailed, match="unknown 'm'"):
            await app.runs.redrive(old.id, {"m": 1})
        new = await app.runs.redrive(old.id, {"n": 5})
        assert (new.redrive_of, new.id != old.id) == (old.id, True)
        assert (await app.runs.redrive(old.id, {"n": 5})).id == new.id
        with pytest.raises(NotDead, match=new.id):
            await app.runs.redrive(old.id, {"n": 6})
        with pytest.raises(NotDead, match=new.id):
            await app.runs.redrive(old.id)
        assert (await app.runs.wait(new.id, 20)).result == 5
        kept = await app.runs.get(old.id)
        assert kept is not None
        assert (kept.status, kept.payload, kept.redriven_as, kept.dead) == (RunStatus.FAILED, {"n": -1}, new.id, False)


async def test_only_dead_letters_are_redriven_and_acknowledged(app: Duly) -> None:
    @app.job("work")
    async def work() -> None: ...

    async with app:
        run = await app.enqueue("work")
        await app.runs.wait(run.id, 20)
        for call in (app.runs.redrive, app.runs.acknowledge):
            with pytest.raises(NotDead, match="is completed"):
                await call(run.id)
            with pytest.raises(NotFound):
                await call("00000000-0000-7000-8000-000000000000")
        with pytest.raises(NotFound):
            await app.runs.attempts("00000000-0000-7000-8000-000000000000")
        with pytest.raises(ValidationFailed, match="no option 'owner'"):
            await app.runs.redrive_many(owner="ann")  # type: ignore[call-arg]


async def test_many_dead_letters_are_worked_off_by_filter_in_batches(app: Duly) -> None:
    fails, done = True, 0

    @app.job("work", retry=Retry(max_attempts=1))
    async def work(n: int) -> None:
        nonlocal done
        if fails:
            if n % 2 == 0:
                raise OSError("even")
            raise OSError("odd")
        done += 1

    many = 2 * BATCH + 50
    async with app:
        await app.runs.enqueue_many("work", [{"n": n} for n in range(2 * many)])
        await until(lambda: _count(app, many * 2))
        even, odd = sorted(await app.runs.dead_groups(), key=lambda group: group.error)
        assert (even.error, even.count, odd.count) == ("OSError: even", many, many)
        fails = False
        part = await app.runs.redrive_many(error="even", most=BATCH + 1)
        assert (part.count, part.more) == (BATCH + 1, True)
        rest = await app.runs.redrive_many(error="even", job="work")
        assert (rest.count, rest.more, rest.refused) == (many - BATCH - 1, False, ())
        await until(lambda: done == many)
        laid = await app.runs.acknowledge_many(error="odd")
        assert laid.count == many
        assert (await app.runs.dead()).items == []
        assert (await app.runs.redrive_many()).count == 0


async def _count(app: Duly, wanted: int) -> bool:
    return sum(group.count for group in await app.runs.dead_groups()) == wanted


async def test_many_are_named_by_id_and_those_that_are_not_dead_are_told(app: Duly) -> None:
    @app.job("work", retry=Retry(max_attempts=1))
    async def work(n: int) -> None:
        if n:
            raise OSError

    async with app:
        good = await app.enqueue("work", {"n": 0})
        bad = await app.enqueue("work", {"n": 1})
        for run in (good, bad):
            await app.runs.wait(run.id, 20)
        nowhere = "00000000-0000-7000-8000-000000000000"
        answer = await app.runs.acknowledge_many(ids=[good.id, bad.id, nowhere])
        assert answer.count == 1
        assert {(one.run_id, one.outcome.value) for one in answer.refused} == {
            (good.id, "not_dead"),
            (nowhere, "not_found"),
        }


async def test_dead_letters_are_found_by_the_key_of_their_schedule(app: Duly) -> None:
    @app.job("work")
    async def work() -> None:
        raise Fatal("no")

    async with app:
        schedule = await app.schedules.create("k", Every("1h"), job="work")
        run = (await app.schedules.trigger(schedule.id)).id
        await app.runs.wait(run, 20)
        assert [one.id for one in (await app.runs.dead(schedule="k")).items] == [run]
        assert (await app.runs.dead(schedule="nobody")).items == []
        assert (await app.runs.redrive_many(schedule="nobody")).count == 0


@rule("F8")
async def test_f8_the_app_s_handler_is_run_once_for_each_dead_run(make_app: MakeApp) -> None:
    app, told = make_app(), []

    @app.job("work", retry=NO_WAIT)
    async def work(n: int) -> None:
        raise ValueError(f"no {n}")

    @app.on_dead
    async def tell(dead: DeadLetter) -> None:
        told.append(dead)

    async with app:
        runs = [await app.enqueue("work", {"n": n}) for n in range(5)]
        await until(lambda: len(told) == 5)
    async with app:  # whatever a restart might tell again
        await until(lambda: _ended(app, "tell", 5))
    assert sorted(dead.run_id for dead in told) == sorted(run.id for run in runs)
    (first,) = [dead for dead in told if dead.run_id == runs[0].id]
    assert (first.job, first.reason, first.error) == ("work", "attempts_spent", "ValueError: no 0")
    assert (first.attempts, first.payload, first.schedule_key) == (2, {"n": 0}, None)
    assert first.died_at.tzinfo is not None


async def _ended(app: Duly, job: str, count: int) -> bool:
    runs = (await app.runs.list(job=job)).items
    assert len(runs) == count
    return all(run.status is RunStatus.COMPLETED for run in runs)


async def test_a_job_s_own_handler_comes_before_the_app_s_and_a_dead_handler_tells_nobody(app: Duly) -> None:
    told: list[tuple[str, str]] = []

    @app.job("own", retry=Retry(max_attempts=1))
    async def own(payload: Any) -> None:
        told.append(("own", payload["dead"]["job"]))
        raise OSError("the handler fails too")

    @app.job("work", retry=Retry(max_attempts=1), on_dead=own)
    async def work() -> None:
        raise OSError

    @app.job("other", retry=Retry(max_attempts=1))
    def other() -> None:
        raise OSError

    @app.on_dead
    @app.job("tell")
    def tell(dead: DeadLetter) -> None:
        told.append(("tell", dead.job))

    async with app:
        await app.enqueue("work")
        await app.enqueue("other")
        await until(lambda: len(told) >= 2)
        await until(lambda: _died(app, "own"))
        await asyncio.wait_for(app.runs.wait((await app.runs.list(job="tell")).items[0].id), 20)
        assert len((await app.runs.list(job="tell")).items) == 1
    assert sorted(told) == [("own", "work"), ("tell", "other")]


async def _died(app: Duly, job: str) -> bool:
    return bool((await app.runs.dead(job=job)).items)


async def test_a_handler_that_is_declared_no_more_is_told_no_more(make_app: MakeApp) -> None:
    before, after, told = make_app(), make_app(), []

    async def work() -> None:
        raise Fatal("no")

    @before.on_dead
    async def tell(dead: dict[str, Any]) -> None:
        told.append(dead["run_id"])

    before.job("work")(work)
    after.job("work")(work)
    async with before:
        run = await before.enqueue("work")
        await until(lambda: told == [run.id])
    async with after:
        run = await after.enqueue("work")
        await after.runs.wait(run.id, 20)
        assert len((await after.runs.list(job="tell")).items) == 1


def test_what_cannot_be_told_of_a_death_is_refused_when_it_is_declared() -> None:
    app = Duly("sqlite:///never-opened.db")
    with pytest.raises(ConfigurationError, match=r"dead: duly\.DeadLetter"):

        @app.on_dead
        async def tell(run_id: str) -> None: ...

    app = Duly("sqlite:///never-opened.db")

    @app.on_dead
    async def first(dead: DeadLetter) -> None: ...

    with pytest.raises(ConfigurationError, match="'first' is told of dead runs already"):

        @app.on_dead
        async def second(dead: DeadLetter) -> None: ...


def test_dead_letters_have_twins_without_await(url: str) -> None:
    app = Duly(url)
    with app.sync as sync:
        assert sync.runs.dead().items == []
        assert sync.runs.dead_groups() == []
        assert sync.runs.redrive_many().count == 0
        assert sync.runs.acknowledge_many(job="x").count == 0
        with pytest.raises(NotFound):
            sync.runs.attempts("sched:none:0")
