"""The demonstration: a few lively schedules with jobs of their own, for the first minute with duly.

Their keys start with ``demo-``. They are declared like anybody's: a second start finds them as they are, and a start
without the demonstration pauses them, since nobody would run them.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from duly.core.errors import KeyInUse
from duly.core.instants import to_datetime
from duly.core.policy import Retry
from duly.core.timing import Once
from duly.engine.context import RunContext

from .duly import Duly

log = logging.getLogger("duly.demo")

REMINDER, VENDOR = "demo-reminder", "demo-vendor"


def add_demo(app: Duly) -> None:
    """Declare the jobs and schedules; before the app starts."""

    @app.job("demo-heartbeat", every="2s", tags=["health"])
    async def heartbeat(run: RunContext) -> dict[str, Any]:
        log.info("heartbeat for %s", _clock_time(run))
        return {"beat": _seconds(run) // 2}

    twice = Retry(max_attempts=3, delay=1, backoff="fixed", jitter=0)

    @app.job("demo-report", every="5s", tags=["reports"], retry=twice)
    async def report(run: RunContext) -> dict[str, Any]:
        if _seconds(run) % 15 == 0 and run.attempt == 1:
            raise ConnectionError("the printer did not answer (this fails on purpose; it is tried again in a second)")
        log.info("report for %s printed at attempt %d", _clock_time(run), run.attempt)
        return {"pages": _seconds(run) % 7 + 1}

    @app.job("demo-slow", every="3s", overlap="skip", tags=["reports"])
    async def slow(run: RunContext) -> None:
        log.info("slow work for %s begins; a window that comes before it ends is skipped", _clock_time(run))
        await app._clock.wait(asyncio.Event(), 4)

    @app.job("demo-new-york", cron="* * * * *", timezone="America/New_York")
    async def new_york(run: RunContext) -> dict[str, str]:
        local = run.scheduled_at.astimezone(ZoneInfo("America/New_York"))
        log.info("it is %s in New York", f"{local:%H:%M}")
        return {"local_time": local.isoformat()}

    @app.job("demo-import", every="30s", tags=["imports"], metadata={"owner_id": "ana"}, retry=Retry(max_attempts=1))
    async def bring_in(run: RunContext) -> dict[str, int]:
        if _seconds(run) % 120 == 0:
            raise ValueError("line 7 has no amount (this dies on purpose, to be redriven or acknowledged)")
        return {"rows": _seconds(run) % 100}

    @app.job("demo-digest", cron="0 9 * * MON-FRI", timezone="Europe/Berlin", tags=["people"])
    async def digest(run: RunContext) -> None:
        log.info("digest for %s", _clock_time(run))

    @app.job("demo-night", cron="30 1 * * *", timezone="America/Sao_Paulo", tags=["reports"])
    async def night(run: RunContext) -> None:
        log.info("nightly work for %s", _clock_time(run))

    @app.job(VENDOR, every="15m", tags=["imports"], metadata={"owner_id": "ana"})
    async def vendor(run: RunContext) -> None:
        log.info("the vendor was asked at %s", _clock_time(run))

    @app.job(REMINDER)
    async def reminder(text: str) -> str:
        log.info("reminder: %s", text)
        return text


async def begin_demo(app: Duly) -> None:
    """Set a reminder for soon, in place of the one of an earlier start, and pause what is new; once the app is open."""
    if len((await app.schedules.changes(VENDOR)).items) == 1:  # only its creation
        await app.schedules.pause(VENDOR, reason="the vendor moves house; ask Ana", by="demo")
    if await app.schedules.get(REMINDER) is not None:
        await app.schedules.delete(REMINDER)
    soon = to_datetime(app._clock.now()) + timedelta(seconds=20)
    payload = {"text": "this was set for 20 seconds after the start"}
    with suppress(KeyInUse):  # another instance was first
        await app.schedules.create(REMINDER, Once(soon), job=REMINDER, payload=payload)


def _seconds(run: RunContext) -> int:
    return round(run.scheduled_at.timestamp())


def _clock_time(run: RunContext) -> str:
    return f"{run.scheduled_at:%H:%M:%S}"
