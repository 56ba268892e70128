"""The auditor: it runs on one instance at a time, and tells what is owed and what is wrong, each once."""

from duly import Every
from duly.core.audit import Fault
from duly.core.webhook import JOB, Webhook
from duly.engine import auditor
from duly.store.statements import Program, query
from duly.store.values import RunFilter
from tests.acceptance.rules import rule
from tests.engine.lab import Lab, Recorder

UNKNOWN = "019363a0-0000-7d83-91f8-20a939dbcd79"


@rule("S3.74")
async def test_a_schedule_that_does_not_fire_is_told_by_one_instance_until_it_does(lab: Lab) -> None:
    first, second = Recorder(), Recorder()
    await lab.start(recorder=first, roles=("scheduler",))
    await lab.start(recorder=second, roles=("scheduler",))
    schedule = await lab.create("tick", Every(minutes=1), job="nobody")
    lab.store.down("fire_due")
    await lab.clock.advance(minutes=4)
    told = [recorder for recorder in (first, second) if recorder.count("schedules_owed")]
    assert len(told) == 1, "the lease is one instance's"
    assert told[0].all("schedules_owed")[-1] == (1, [schedule.id])
    lab.store.up()
    await lab.clock.advance(seconds=10)
    assert told[0].all("schedules_owed")[-1] == (0, [])


async def test_webhooks_are_told_once_of_a_fire_that_is_owed_and_once_of_its_end(lab: Lab) -> None:
    """Whichever instances audit, and however often; and a store where nothing is owed is not written to."""
    await lab.start(roles=("scheduler",))
    await lab.start(roles=("scheduler",))
    await lab.clock.advance(minutes=5)
    quiet = lab.store.calls["tell_overdue"]
    assert quiet <= 2, "each looks once when it begins to audit"
    events = ("schedule.overdue", "schedule.recovered")
    await lab.plain.put_webhook(Webhook(id=UNKNOWN, url="https://example.com/", events=events))
    await lab.create("tick", Every(minutes=1), job="nobody")
    lab.store.down("fire_due")
    await lab.clock.advance(minutes=10)
    lab.store.up()
    await lab.clock.advance(seconds=30)
    page = await lab.plain.list_runs(RunFilter(job=JOB), limit=10)
    told = [await lab.plain.get_run(run.id) for run in page.items]
    assert sorted(run.payload["type"] for run in told if run is not None) == sorted(events)
    calls = lab.store.calls["tell_overdue"]
    await lab.clock.advance(minutes=5)
    assert lab.store.calls["tell_overdue"] == calls, "nothing is owed"


async def test_a_window_without_a_row_is_found_and_told_once(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None: ...

    await lab.start()
    kept = await lab.create("kept", Every(minutes=1))
    robbed = await lab.create("robbed", Every(minutes=1))
    await lab.clock.advance(minutes=3, seconds=30)

    def rob(now: int) -> Program[None]:
        yield query("purge_runs_of", schedule_id=robbed.id, limit=1)

    await lab.plain.driver.write(rob)
    await lab.clock.advance(minutes=4)
    (findings,) = (values[0] for values in lab.recorder.all("audit_found"))
    assert [(found.fault, found.key, found.windows) for found in findings] == [(Fault.MISSED, "robbed", 1)]
    assert kept.id not in {found.schedule_id for found in findings}


async def test_a_round_looks_at_a_few_schedules_at_a_time(lab: Lab) -> None:
    many = auditor.SLICE * 2 + 1
    for number in range(many):
        await lab.create(f"s{number}", Every(hours=1), job="nobody", wake=False)
    await lab.start(roles=("scheduler",))
    await lab.clock.advance(seconds=1)
    assert lab.store.calls["read_ledger"] == 1, "one slice per look"
    await lab.clock.advance(seconds=10)
    assert lab.store.calls["read_ledger"] == 3
    await lab.clock.advance(seconds=30)
    assert lab.store.calls["read_ledger"] == 3, "the next round waits"
    await lab.clock.advance(seconds=30)
    assert lab.store.calls["read_ledger"] > 3
