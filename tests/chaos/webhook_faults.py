"""B08: a receiver of webhooks that is down and then flaps, beside one that is well."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from typing import Any

from duly import Duly, Every, Retry, Run, RunStatus, Settings
from duly.core.errors import DulyError
from tests.chaos.brokers import judge_messages
from tests.chaos.judging import percentile
from tests.chaos.trial import Trial
from tests.targets.receiving import Receiver

ALLOWED = Settings(webhook_allow=("127.0.0.1",))
STUBBORN = Retry(max_attempts=100, backoff="fixed", delay=10, jitter=1)


async def receiver_down(trial: Trial) -> None:
    """B08: ten minutes away at about eight events a second, then flapping; the other endpoint notices nothing."""
    lasting = 60 * trial.scale
    bad, good = Receiver(), Receiver()
    for one in (bad, good):
        await one.start()
    try:
        async with Duly(trial.fleet.url, roles=(), name="maker", settings=ALLOWED) as maker:
            keys = await _deliver(trial, maker, bad, 8, "bad"), await _deliver(trial, maker, good, 4, "good")
        await trial.pause(10)
        calm_until = time.time()
        await bad.stop()
        await trial.pause(lasting)
        for _ in range(5):
            await bad.start()
            await trial.pause(1)
            await bad.stop()
            await trial.pause(1)
        down_until = time.time()
        await bad.start()
        runs = [await _ended(trial, mine) for mine in keys]
    finally:
        for one in (bad, good):
            await one.stop()
    for mine, receiver in zip(runs, (bad, good), strict=True):
        came = [(one.id, one.body) for one in receiver.came]
        findings, figures = judge_messages(dict.fromkeys(run.id for run in mine), came)
        trial.figures.findings += findings
        if figures["did not come"]:
            trial.figures.findings.append(f"{figures['did not come']} of {len(mine)} committed messages did not come")
        trial.figures.runs += len(mine)
    calm = percentile(_took(runs[1], 0, calm_until), 99)
    away = percentile(_took(runs[1], calm_until, down_until), 99)
    most = max(run.attempt for run in runs[0])
    trial.figures.remarks |= {"other p99 calm": calm, "other p99 away": away, "most attempts": most}
    if away is not None and calm is not None and away > 2 * calm + 1:
        trial.figures.findings.append(f"the other endpoint waited {away} s instead of {calm} s")


async def _deliver(trial: Trial, maker: Duly, receiver: Receiver, schedules: int, stem: str) -> list[str]:
    keys = [trial.new_name(f"{stem}-") for _ in range(schedules)]
    options: dict[str, Any] = {"retry": STUBBORN, "overlap": "allow", "catch_up": "all", "jitter": (0, 900)}
    for key in keys:
        target = {"kind": "webhook", "url": receiver.url}
        await maker.schedules.create(key, Every(seconds=1), target=target, payload={"key": key}, **options)
    return keys


async def _ended(trial: Trial, keys: list[str]) -> list[Run]:
    """Pause the schedules; their runs, when all have ended. What waits for its next try has time for it."""
    found: list[Run] = []
    for key in keys:
        await trial.patiently(partial(trial.client.schedules.pause, key))
    for key in keys:
        runs: list[Run] | None = None
        give_up_at = time.monotonic() + 900
        while runs is None:
            assert time.monotonic() < give_up_at, f"the runs of {key} do not end"
            with suppress(DulyError):
                runs = await trial._settled(key)
            await trial.pause(0.5)
        found += [run for run in runs if run.status is not RunStatus.SKIPPED]
    bad = [run for run in found if run.status is not RunStatus.COMPLETED]
    trial.figures.findings += [f"run {run.id} is {run.status.value}: {run.error_message}" for run in bad]
    return found


def _took(runs: list[Run], since: float, until: float) -> list[float]:
    """Seconds from the fire to the end, of those that were fired in a span."""
    return [
        (run.completed_at - run.fired_at).total_seconds()
        for run in runs
        if run.completed_at is not None and since <= run.fired_at.timestamp() < until
    ]
