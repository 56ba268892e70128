"""Webhooks: told in the transaction that did it, of what is theirs and of what they asked for, and of nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duly.core.credential import Whose
from duly.core.instants import to_datetime
from duly.core.run import Failed, Run
from duly.core.webhook import EVENTS, JOB, QUEUE, Secret, Webhook, WebhookKind
from duly.store.values import RunFilter
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial

ID = "019cc9a0-0000-7000-8000-00000000000{}"


def _new(number: int = 1, *events: str, **words: Any) -> Webhook:
    return Webhook(
        id=ID.format(number),
        url="https://example.com/hook",
        events=events or EVENTS,
        secrets=(Secret("whsec_new"), Secret("whsec_old", 99)),
        **words,
    )


async def _notifications(trial: Trial) -> list[Run]:
    page = await trial.store.list_runs(RunFilter(job=JOB), limit=200)
    return [await trial.run(run) for run in page.items]  # a list has no payloads


async def _told(trial: Trial) -> list[tuple[str, str]]:
    """The events that were told to webhooks, each with the last digit of the webhook's id, in order of the alphabet."""
    said = [run.payload for run in await _notifications(trial)]
    return sorted((one["type"], one["webhookId"][-1]) for one in said)


async def _fail_one(trial: Trial) -> Run:
    run = await trial.enqueue("report")
    worker = await trial.worker("report")
    await worker.fail(await worker.claim_one(), "boom", fatal=True)
    return run


class TestWebhooks:
    async def test_a_webhook_is_found_as_it_was_put(self, trial: Trial) -> None:
        now = to_datetime(trial.clock.now())
        new = _new(
            1,
            "run.failed",
            tenant="acme",
            owner="ann",
            tag="money",
            job="report",
            description="pager",
            created_by="key:x",
        )
        put = await trial.store.put_webhook(new)
        assert put == replace(new, created_at=now, updated_at=now)
        assert await trial.store.put_webhook(_new(1, "run.completed")) == put
        assert await trial.store.get_webhook(new.id) == put
        assert await trial.store.get_webhook(ID.format(9)) is None
        assert "whsec" not in repr(put)

    async def test_they_are_listed_page_by_page_and_each_sees_their_own(self, trial: Trial) -> None:
        for number, owner in ((1, "ann"), (2, "bob"), (3, "ann")):
            await trial.store.put_webhook(_new(number, tenant="acme", owner=owner))
        await trial.store.put_webhook(_new(4))
        page = await trial.store.list_webhooks(limit=3)
        assert [one.id[-1] for one in page.items] == ["1", "2", "3"]
        rest = await trial.store.list_webhooks(limit=3, after=page.next_cursor)
        assert ([one.id[-1] for one in rest.items], rest.next_cursor) == (["4"], None)
        assert [one.id[-1] for one in (await trial.store.list_webhooks(limit=9, tenant="acme")).items] == [
            "1",
            "2",
            "3",
        ]
        hers = trial.store.seen_by(Whose("acme", "ann"))
        assert [one.id[-1] for one in (await hers.list_webhooks(limit=9)).items] == ["1", "3"]
        assert await hers.get_webhook(ID.format(2)) is None
        assert await hers.change_webhook(ID.format(2), lambda one, now: replace(one, enabled=False)) is None
        assert not await hers.delete_webhook(ID.format(2))
        made = await hers.put_webhook(_new(5))
        assert (made.tenant, made.owner) == ("acme", "ann")

    async def test_a_change_is_a_revision_and_none_is_none(self, trial: Trial) -> None:
        put = await trial.store.put_webhook(_new())
        trial.clock.move(seconds=5)
        same = await trial.store.change_webhook(put.id, lambda one, now: one)
        assert same == put
        changed = await trial.store.change_webhook(put.id, lambda one, now: replace(one, url="https://example.com/b"))
        assert changed == replace(
            put, url="https://example.com/b", revision=2, updated_at=to_datetime(trial.clock.now())
        )
        assert await trial.store.delete_webhook(put.id)
        assert not await trial.store.delete_webhook(put.id)
        assert await trial.store.change_webhook(put.id, lambda one, now: one) is None


class TestTellingWebhooks:
    async def test_without_a_webhook_nothing_is_made(self, trial: Trial) -> None:
        await _fail_one(trial)
        assert await _told(trial) == []

    async def test_the_transaction_that_ends_a_run_tells_of_it(self, trial: Trial) -> None:
        await trial.store.put_webhook(_new(1, "run.failed"))
        await trial.store.put_webhook(_new(2, "run.completed"))
        run = await _fail_one(trial)
        assert await _told(trial) == [("run.failed", "1")]
        [told] = await _notifications(trial)
        assert told.queue == QUEUE
        assert told.payload["data"] == {
            "runId": run.id,
            "scheduleId": None,
            "scheduleKey": None,
            "jobType": "report",
            "attempt": 1,
            "reason": "fatal",
            "errorMessage": "boom",
            "ownerId": None,
            "tenantId": None,
        }

    async def test_what_tells_a_webhook_is_itself_not_told(self, trial: Trial) -> None:
        await trial.store.put_webhook(_new(1))
        await _fail_one(trial)
        teller = await trial.worker(JOB)
        await teller.fail(await teller.claim_one(), fatal=True)
        assert await _told(trial) == [("run.failed", "1")]

    async def test_each_hears_of_what_is_theirs_and_of_what_they_asked_for(self, trial: Trial) -> None:
        mine = await trial.put(key="mine", tenant="acme", owner="ann", tags=("money",))
        theirs = await trial.put(key="theirs", tenant="acme", owner="bob")
        for number, words in enumerate(
            (
                {},
                {"tenant": "acme"},
                {"tenant": "other"},
                {"tenant": "acme", "owner": "ann"},
                {"tenant": "acme", "owner": "ann", "tag": "money"},
                {"tenant": "acme", "owner": "ann", "tag": "fun"},
                {"schedule_id": mine.id},
                {"schedule_id": mine.id, "tenant": "acme", "owner": "bob"},
                {"job": "nothing"},
            )
        ):
            await trial.store.put_webhook(_new(number, "schedule.paused", **words))
        await trial.pause(mine)
        assert [number for _, number in await _told(trial)] == ["0", "1", "3", "4", "6"]
        await trial.pause(theirs)
        told = [number for _, number in await _told(trial)]
        assert sorted(told) == sorted(["0", "1", "3", "4", "6", "0", "1"])

    async def test_one_that_is_not_enabled_hears_nothing(self, trial: Trial) -> None:
        put = await trial.store.put_webhook(_new(1, "run.failed"))
        await trial.store.change_webhook(put.id, lambda one, now: replace(one, enabled=False))
        await _fail_one(trial)
        assert await _told(trial) == []
        await trial.store.change_webhook(put.id, lambda one, now: replace(one, enabled=True))
        await _fail_one(trial)
        assert await _told(trial) == [("run.failed", "1")]

    async def test_what_is_told_belongs_to_whom_it_is_told(self, trial: Trial) -> None:
        await trial.store.put_webhook(_new(1, "schedule.created", tenant="acme", owner="ann"))
        await trial.put(key="mine", tenant="acme", owner="ann")
        [told] = await _notifications(trial)
        assert await trial.store.seen_by(Whose("acme", "ann")).get_run(told.id) is not None
        assert await trial.store.seen_by(Whose("acme", "bob")).get_run(told.id) is None

    async def test_windows_that_were_missed_are_told_as_a_miss(self, trial: Trial) -> None:
        await trial.store.put_webhook(_new(1, "schedule.missed"))
        await trial.put(key="nightly")
        trial.clock.move(hours=3)
        await trial.fire()
        assert await _told(trial) == [("schedule.missed", "1")]

    async def test_a_fire_that_is_owed_is_told_once_and_so_is_its_end(self, trial: Trial) -> None:
        await trial.store.put_webhook(_new(1, "schedule.overdue", "schedule.recovered"))
        schedule = await trial.put(key="nightly")
        late = {"late_ms": 60_000, "limit": 10}
        assert await trial.store.tell_overdue(**late) == 0
        trial.clock.move(hours=3)
        assert await trial.store.tell_overdue(**late) == 1
        assert await trial.store.tell_overdue(**late) == 1
        assert await _told(trial) == [("schedule.overdue", "1")]
        await trial.fire()
        assert await trial.store.tell_overdue(**late) == 0
        assert await trial.store.tell_overdue(**late) == 0
        assert await _told(trial) == [("schedule.overdue", "1"), ("schedule.recovered", "1")]
        trial.clock.move(hours=3)
        await trial.store.tell_overdue(**late)
        await trial.pause(schedule)
        assert await trial.store.tell_overdue(**late) == 0
        assert len(await _told(trial)) == 3, "what is paused has not recovered"

    async def test_what_is_cut_off_is_told_to_nobody_and_what_is_done_to_each_once(
        self, trial: Trial, access: Access
    ) -> None:
        for number in (1, 2):
            await trial.store.put_webhook(_new(number, "run.failed"))
        await trial.enqueue("report")
        worker = await trial.worker("report")
        ends = [worker.ending(await worker.claim_one(), Failed("boom", fatal=True))]
        for statements in range(20):
            if not await access.crash_after(statements, lambda store: store.settle(ends)):
                break
            assert await _told(trial) == [], f"cut off after {statements} statements"
        assert await _told(trial) == [("run.failed", "1"), ("run.failed", "2")]
        await trial.store.settle(ends)
        assert len(await _told(trial)) == 2, "a repeated settle is no news"

    async def test_a_heartbeat_is_told_of_ends(self, trial: Trial) -> None:
        await trial.store.put_webhook(_new(1, "run.completed", "run.failed", kind=WebhookKind.HEARTBEAT))
        await _fail_one(trial)
        [told] = await _notifications(trial)
        assert told.max_attempts == 5
