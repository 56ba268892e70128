"""The audit trail: who changed what of a schedule, written by the transaction that changes it."""

from __future__ import annotations

from dataclasses import replace

from duly.core.change import FieldChange, ScheduleChange
from duly.core.instants import to_datetime
from duly.core.policy import Overlap, Retry
from duly.core.schedule import Schedule
from duly.core.timing import Cron, Every
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial


async def trail(trial: Trial, schedule: Schedule) -> list[ScheduleChange]:
    page = await trial.store.list_changes(schedule.id, limit=50)
    assert page is not None
    assert page.next_cursor is None
    return page.items


class TestAuditTrail:
    async def test_a_new_schedule_says_who_made_it_and_when(self, trial: Trial) -> None:
        put = await trial.put(created_by="ann")
        (created,) = await trail(trial, put)
        assert (created.action, created.by, created.number) == ("create", "ann", 0)
        assert created.at == to_datetime(trial.clock.now())

    async def test_an_edit_names_each_field_with_its_old_and_its_new_value(self, trial: Trial) -> None:
        put = await trial.put(timing=Cron("0 2 * * *", "America/Sao_Paulo"), retry=Retry(3))
        trial.clock.move(seconds=1)
        definition = replace(
            put.definition,
            timing=Cron("0 3 * * *", "America/Sao_Paulo"),
            retry=Retry(5),
            overlap=Overlap.QUEUE,
            timeout_ms=None,
            payload='{"n":2}',
        )
        await trial.edit(put, definition=definition, facts_changes={"name": "Nightly", "tags": ("a",)})
        edit, _ = await trail(trial, put)
        assert (edit.action, edit.by, edit.revision) == ("edit", "ann", 2)
        assert edit.at == to_datetime(trial.clock.now())
        assert {change.field: (change.old, change.new) for change in edit.fields} == {
            "name": ("report", "Nightly"),
            "tags": ([], ["a"]),
            "cron_expression": ("0 2 * * *", "0 3 * * *"),
            "max_attempts": (3, 5),
            "overlap": ("skip", "queue"),
            "timeout": (3600, None),
            "payload": ({}, {"n": 2}),
        }

    async def test_another_kind_of_timing_shows_what_went_and_what_came(self, trial: Trial) -> None:
        put = await trial.put(timing=Every(minutes=1))
        await trial.edit(put, definition=replace(put.definition, timing=Cron("0 2 * * *")))
        edit, _ = await trail(trial, put)
        fields = {change.field: (change.old, change.new) for change in edit.fields}
        assert fields["every_ms"] == (60_000, None)
        assert fields["cron_expression"] == (None, "0 2 * * *")
        assert fields["timezone"] == (None, "UTC")

    async def test_a_large_payload_is_said_to_have_changed_and_not_copied(self, trial: Trial) -> None:
        put = await trial.put()
        await trial.edit(put, definition=replace(put.definition, payload='"' + "x" * 2000 + '"'))
        edit, _ = await trail(trial, put)
        assert edit.fields == (FieldChange("payload", shown=False),)

    async def test_a_pause_keeps_its_reason_and_its_end(self, trial: Trial) -> None:
        put = await trial.put()
        until = trial.clock.now() + 60_000
        await trial.pause(put, until=until)
        await trial.resume(put)
        resume, pause, _ = await trail(trial, put)
        assert (pause.action, pause.by) == ("pause", "ann")
        assert FieldChange("paused_reason", None, "on leave") in pause.fields
        assert FieldChange("paused_until", None, "2026-01-05T00:01:00Z") in pause.fields
        assert FieldChange("enabled", True, False) in pause.fields
        assert resume.action == "resume"
        assert FieldChange("enabled", False, True) in resume.fields

    async def test_what_duly_itself_does_is_recorded_as_its_own(self, trial: Trial) -> None:
        put = await trial.put()
        await trial.pause(put, until=trial.clock.now() + 1000)
        trial.clock.move(seconds=1)
        await trial.store.resume_expired_pauses(limit=10)
        newest, *_ = await trail(trial, put)
        assert (newest.action, newest.by) == ("resume", "duly")

    async def test_a_pause_for_failures_is_recorded(self, trial: Trial) -> None:
        put = await trial.put(pause_after_failures=1)
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        await worker.fail(await worker.claim_one(), fatal=True)
        newest, *_ = await trail(trial, put)
        assert (newest.action, newest.by) == ("pause", "duly")
        assert newest.fields[0] == FieldChange("paused_reason", None, "paused after 1 failed runs in a row")

    async def test_what_changes_nothing_leaves_no_trace(self, trial: Trial, access: Access) -> None:
        put = await trial.put()
        await trial.cancel(put)
        await trial.cancel(put)
        other = await trial.put("other")
        await trial.pause(other)
        await trial.pause(other)
        await trial.edit(other, facts_changes={"name": "other"})
        await trial.store.change_schedule(other.id, lambda schedule, now: None)
        assert [change.action for change in await trail(trial, put)] == ["cancel", "create"]
        assert [change.action for change in await trail(trial, other)] == ["pause", "create"]
        assert len((await access.dump())["changes"]) == 2

    async def test_a_fire_leaves_no_trace(self, trial: Trial, access: Access) -> None:
        await trial.put()
        trial.clock.move(minutes=10)
        assert (await trial.fire()).windows > 0
        assert (await access.dump())["changes"] == []

    async def test_the_trail_of_a_deleted_schedule_is_found_by_its_id_and_by_its_key(self, trial: Trial) -> None:
        put = await trial.put("nightly")
        await trial.delete(put)
        deleted, _ = await trail(trial, put)
        assert (deleted.action, deleted.by) == ("delete", "ann")
        by_key = await trial.store.list_changes("nightly", limit=50)
        assert by_key is not None
        assert by_key.items[0] == deleted
        trial.clock.move(seconds=1)
        newer = await trial.put("nightly")
        by_key = await trial.store.list_changes("nightly", limit=50)
        assert by_key is not None
        assert [change.schedule_id for change in by_key.items] == [newer.id]

    async def test_it_is_read_page_by_page_newest_first(self, trial: Trial) -> None:
        put = await trial.put()
        for n in range(4):
            await trial.edit(put, facts_changes={"name": f"n{n}"})
        numbers: list[int] = []
        after: int | None = None
        for _ in range(3):
            page = await trial.store.list_changes(put.key, limit=2, after=after)
            assert page is not None
            numbers += [change.number for change in page.items]
            after = None if page.next_cursor is None else int(page.next_cursor)
        assert (numbers, after) == ([4, 3, 2, 1, 0], None)

    async def test_of_a_schedule_that_never_was_there_is_none(self, trial: Trial) -> None:
        put = await trial.put()
        assert await trial.store.list_changes("unknown", limit=50) is None
        assert await trial.store.list_changes(trial.id(), limit=50) is None
        assert await trial.store.list_changes(put.id, limit=50, tenant="acme") is None
