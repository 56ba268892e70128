"""A store in which something has happened: windows that ran, failed and were skipped, across a change of the clocks."""

from dataclasses import dataclass
from datetime import UTC, datetime

from duly import Cron, Duly
from duly.core.schedule import Schedule
from duly.testing import ManualClock
from tests.contract.suite import Trial

BEGIN = int(datetime(2026, 10, 22, 6, tzinfo=UTC).timestamp() * 1000)
"""Some days before the clocks of Berlin go back."""

ERROR = "ConnectionError: database 'reports' is not reachable"


@dataclass(frozen=True)
class Lively:
    nightly: Schedule
    dead: str
    """A run of ``send-invoice`` that failed for good."""


async def live(app: Duly, clock: ManualClock, days: int = 6) -> Lively:
    """Let days go by."""
    trial = Trial(app._store, clock)
    nightly = await app.schedules.create(
        key="nightly-report",
        name="Nightly report",
        description="Sends the report of the day before.",
        timing=Cron("30 2 * * *", timezone="Europe/Berlin"),
        job="report",
        payload={"format": "pdf"},
        tags=["billing", "nightly"],
        metadata={"owner_id": "ann"},
    )
    await app.schedules.create(
        key="invoices", name="Invoices", timing=Cron("0 9 * * *"), job="send-invoice", metadata={"owner_id": "ann"}
    )
    for hour in range(days * 24):
        clock.move(hours=1)
        if 60 <= hour < 92:
            continue  # an outage, in which two windows are missed
        await trial.fire()
        worker = await trial.worker("report", "send-invoice", session=app._chance.session(), name="worker-1")
        for claim in await worker.claim():
            clock.move(milliseconds=1200)
            if claim.job == "send-invoice":
                await worker.fail(claim, f"no such customer: {hour % 2}", fatal=True)
            elif hour in (18, 19, 20, 42):
                await worker.fail(claim, ERROR)
            else:
                await worker.complete(claim, '{"rows": 1200}')
        await worker.close()
    dead = await app.runs.dead(limit=1)
    return Lively(nightly, dead.items[0].id)
