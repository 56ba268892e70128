"""Lists: pages by key, filters, no payloads."""

from __future__ import annotations

import pytest

from duly.core.run import Run, RunStatus
from duly.core.schedule import Schedule, Target, TargetKind
from duly.core.timing import Once
from duly.store.values import LONG_RESULT, RunFilter, ScheduleFilter
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial


class TestListingSchedules:
    @rule("S4.25")
    async def test_pages_follow_one_another_in_the_order_of_creation(self, trial: Trial) -> None:
        keys = [f"s{n}" for n in range(7)]
        for key in keys:
            await trial.put(key)
        listed: list[str] = []
        after, pages = None, 0
        while pages == 0 or after is not None:
            page = await trial.store.list_schedules(ScheduleFilter(), limit=3, after=after)
            listed += [schedule.key for schedule in page.items]
            after, pages = page.next_cursor, pages + 1
        assert listed == keys
        assert pages == 3

    async def test_a_page_that_ends_with_the_list_says_so(self, trial: Trial) -> None:
        for key in ("a", "b"):
            await trial.put(key)
        page = await trial.store.list_schedules(ScheduleFilter(), limit=2)
        assert page.next_cursor is None

    @rule("K1")
    async def test_lists_leave_payloads_out_and_deleted_schedules_too(self, trial: Trial) -> None:
        await trial.put("kept", payload='{"secret":1}')
        await trial.delete(await trial.put("deleted"))
        (listed,) = (await trial.store.list_schedules(ScheduleFilter(), limit=10)).items
        assert listed.key == "kept"
        assert listed.payload is None

    @pytest.mark.parametrize(
        ("words", "found"),
        [
            ({}, "abc"),
            ({"tenant": "acme"}, "ab"),
            ({"owner": "ann"}, "a"),
            ({"tenant": "acme", "owner": "bob"}, "b"),
            ({"job": "work"}, "ac"),
            ({"topic": "tax.due"}, "b"),
            ({"tag": "x"}, "ab"),
            ({"tag": "x.y"}, ""),
            ({"app": "shop"}, "c"),
            ({"status": "pending"}, "abc"),
            ({"status": "active"}, ""),
            ({"enabled": True}, "ab"),
            ({"enabled": False}, "c"),
            ({"q": "REPORT"}, "a"),
            ({"q": "slash"}, "c"),
            ({"q": "100%"}, "b"),
            ({"q": "0_of"}, ""),
            ({"q": "back\\slash"}, "c"),
        ],
    )
    async def test_filters_narrow_a_list(self, trial: Trial, words: dict[str, object], found: str) -> None:
        topic = Target(TargetKind.TOPIC, "tax.due")
        await trial.put("a", tenant="acme", owner="ann", tags=("x", "y"), name="Monthly report")
        await trial.put("b", tenant="acme", owner="bob", tags=("x",), target=topic, name="100% of it")
        await trial.put("c", app="shop", paused_at=1, name="back\\slash")
        page = await trial.store.list_schedules(ScheduleFilter(**words), limit=10)  # type: ignore[arg-type]
        assert "".join(schedule.key for schedule in page.items) == found

    async def test_filters_and_pages_go_together(self, trial: Trial) -> None:
        for n in range(6):
            await trial.put(f"s{n}", owner="ann" if n % 2 else "bob")
        first = await trial.store.list_schedules(ScheduleFilter(owner="ann"), limit=2)
        rest = await trial.store.list_schedules(ScheduleFilter(owner="ann"), limit=2, after=first.next_cursor)
        assert [s.key for s in [*first.items, *rest.items]] == ["s1", "s3", "s5"]
        assert rest.next_cursor is None

    async def test_one_that_a_newer_version_wrote_is_left_out_and_hides_no_other(
        self, trial: Trial, access: Access
    ) -> None:
        puts = [await trial.put(f"s{n}", app="shop") for n in range(5)]
        for newer in (puts[1], puts[4]):
            await access.damage(newer.id)
        first = await trial.store.list_schedules(ScheduleFilter(), limit=2)
        rest = await trial.store.list_schedules(ScheduleFilter(), limit=3, after=first.next_cursor)
        assert [[s.key for s in page.items] for page in (first, rest)] == [["s0"], ["s2", "s3"]]
        assert rest.next_cursor is None
        assert [s.key for s in await trial.store.declared_schedules("shop")] == ["s0", "s2", "s3"]

    async def test_what_an_app_declared_is_found_by_its_name_with_payloads(self, trial: Trial) -> None:
        await trial.put("a", app="shop", payload='{"n":1}')
        await trial.put("b", app="shop", tenant="acme")
        await trial.delete(await trial.put("gone", app="shop"))
        await trial.put("other", app="mill")
        await trial.put("nobody")
        declared = await trial.store.declared_schedules("shop")
        assert [(s.key, s.payload) for s in declared] == [("a", {"n": 1}), ("b", {})]
        assert await trial.store.declared_schedules("none") == []


class TestListingRuns:
    async def test_runs_are_listed_newest_first_open_and_ended_alike(self, trial: Trial) -> None:
        worker = await trial.worker()
        ids = []
        for _ in range(5):
            trial.clock.move(seconds=1)
            ids.append((await trial.enqueue(payload="[1]")).id)
        for claim in await worker.claim(limit=3):
            await worker.complete(claim, "[2]")
        first = await trial.store.list_runs(RunFilter(), limit=3)
        rest = await trial.store.list_runs(RunFilter(), limit=3, after=first.next_cursor)
        assert [run.id for run in [*first.items, *rest.items]] == ids[::-1]
        assert rest.next_cursor is None
        assert all(run.payload_json is None for run in [*first.items, *rest.items])
        assert [run.status.value for run in first.items] == ["pending", "pending", "completed"]
        assert [run.result_json for run in [*first.items, *rest.items]] == [None, None, "[2]", "[2]", "[2]"]

    async def test_a_list_of_runs_carries_no_long_result(self, trial: Trial) -> None:
        worker = await trial.worker()
        short, long = (f'"{"x" * (size - 2)}"' for size in (LONG_RESULT // 2, LONG_RESULT + 1))
        run, _ = [await trial.enqueue() for _ in range(2)]
        for claim in await worker.claim(limit=2):
            await worker.complete(claim, short if claim.id == run.id else long)
        listed = (await trial.store.list_runs(RunFilter(), limit=5)).items
        assert {one.id == run.id: one.result_json for one in listed} == {True: short, False: None}

    async def test_filters_narrow_a_list_of_runs(self, trial: Trial) -> None:
        put: Schedule = await trial.put("soon", Once("2026-01-05T00:00:10Z"), tenant="acme", owner="ann", job="other")
        trial.clock.move(seconds=10)
        await trial.fire()
        worker = await trial.worker()
        waiting = await trial.enqueue(owner="bob")
        running = await trial.enqueue(priority=9)
        await worker.claim(limit=1)

        async def found(where: RunFilter) -> set[str]:
            return {run.id for run in (await trial.store.list_runs(where, limit=10)).items}

        (window,) = await trial.runs(put)
        assert await found(RunFilter()) == {window.id, waiting.id, running.id}
        assert await found(RunFilter(tenant="acme")) == {window.id}
        assert await found(RunFilter(owner="ann")) == {window.id}
        assert await found(RunFilter(owner="ann", tenant="other")) == set()
        assert await found(RunFilter(owner="bob")) == {waiting.id}
        assert await found(RunFilter(schedule_id=put.id)) == {window.id}
        assert await found(RunFilter(job="work")) == {waiting.id, running.id}
        assert await found(RunFilter(status=RunStatus.PENDING)) == {window.id, waiting.id}
        assert await found(RunFilter(status=RunStatus.RUNNING)) == {running.id}
        assert await found(RunFilter(status=RunStatus.COMPLETED)) == set()

    async def test_a_run_tells_all_about_itself(self, trial: Trial) -> None:
        put = await trial.put("soon", Once("2026-01-05T00:00:10Z"), payload='{"n":1}', priority=5, queue="slow")
        trial.clock.move(seconds=11)
        await trial.fire()
        worker = await trial.worker(name="w1")
        trial.clock.move(seconds=1)
        claim = await worker.claim_one()
        running: Run = await trial.run(claim)
        assert (running.status, running.instance, running.attempt) == ("running", "w1", 1)
        trial.clock.move(seconds=2)
        await worker.complete(claim, '{"ok":true}')
        run = await trial.run(claim)
        assert run.status == "completed"
        assert (run.schedule_id, run.schedule_key, run.revision) == (put.id, "soon", 1)
        assert run.window_key == "sched:soon:1767571210000"
        assert (run.queue, run.priority, run.kind, run.job) == ("slow", 5, "window", "work")
        assert run.payload == {"n": 1}
        assert run.result == {"ok": True}
        seconds = [moment and moment.second for moment in (run.window_at, run.scheduled_at, run.fired_at)]
        assert seconds == [10, 10, 11]
        assert (run.started_at and run.started_at.second, run.completed_at and run.completed_at.second) == (12, 14)

    async def test_an_unknown_run_is_none(self, trial: Trial) -> None:
        assert await trial.store.get_run(trial.id()) is None
