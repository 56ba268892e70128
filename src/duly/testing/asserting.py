"""What a test says of an app: these windows fired, this was enqueued; and: let everything come to its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from duly.app import Duly
from duly.core.instants import to_datetime, to_ms
from duly.core.run import Run, RunKind, RunStatus

from .clock import ManualClock

_OPEN = (RunStatus.PENDING, RunStatus.RUNNING, RunStatus.SUSPENDED, RunStatus.CANCELLING)
_MOST_WAITS = 10_000


async def drain(app: Duly) -> Counter[str]:
    """Let all open runs come to their end, retries, sleeps and runs for later too; answer how many runs ended how, all
    that are kept.

    The clock is moved on from one instant that something waits for to the next. What waits for a signal, or for a job
    that the app does not have, never ends by itself: an AssertionError names it.
    """
    clock = _clock_of(app)
    await clock.settle()
    waiting = {run.id: run for run in await _open_runs(app)}
    for _ in range(_MOST_WAITS):
        if not waiting:
            return Counter([run.status.value async for run in app.runs.iterate()])
        due = [run.due_at for run in waiting.values() if run.due_at is not None and to_ms(run.due_at) > clock.now()]
        if due:
            await clock.advance_to(min(due))
        else:
            await clock.advance(seconds=1)
        before, waiting = waiting, {run.id: run for run in await _open_runs(app)}
        if not due and before == waiting:
            break
    told = ", ".join(f"{run.job} {run.id} ({run.status.value})" for run in waiting.values())
    raise AssertionError(f"these runs do not end by themselves: {told}")


async def assert_fired(
    app: Duly, schedule: str, *, times: int | None = None, at: Iterable[str | datetime] | None = None
) -> list[Run]:
    """Check which windows of a schedule fired, and answer their runs, oldest first.

    Without more, at least one did. ``times`` says how many, ``at`` at which instants: RFC 3339 texts or datetimes.
    """
    found = await app.schedules.get(schedule)
    assert found is not None, f"there is no schedule {schedule!r}; declare or create it first"
    kept = [run async for run in app.runs.iterate(schedule=found.id)]
    runs = [run for run in reversed(kept) if run.kind is RunKind.WINDOW and run.status is not RunStatus.SKIPPED]
    fired = [run.window_at for run in runs if run.window_at is not None]
    if at is not None:
        wanted = [datetime.fromisoformat(one) if isinstance(one, str) else one for one in at]
        missing, extra = [w for w in wanted if w not in fired], [f for f in fired if f not in wanted]
        wrong = _told("did not fire at", missing) + _told("fired at", extra)
        assert not wrong, f"schedule {schedule!r}: {wrong}it fired {len(fired)} times, {len(wanted)} were expected"
    if times is not None:
        assert len(fired) == times, f"schedule {schedule!r} fired {len(fired)} times; expected {times}"
    elif at is None:
        next_at = found.next_window_at
        assert fired, f"schedule {schedule!r} has not fired; it is {_now(app)}, its next window is {next_at}"
    return runs


async def assert_enqueued(
    app: Duly, job: str, payload: Mapping[str, Any] | None = None, *, times: int | None = None
) -> list[Run]:
    """Check that runs of a job were asked for directly, and answer them, oldest first; open or ended.

    ``payload`` has to be part of theirs. Without ``times``, at least one has to be there.
    """
    kept = [run async for run in app.runs.iterate(job=job)]
    direct = [await _get(app, run.id) for run in reversed(kept) if run.kind is RunKind.DIRECT]
    runs = [run for run in direct if payload is None or _has(run.payload, payload)]
    wanted = f"{job!r}" if payload is None else f"{job!r} with {dict(payload)!r}"
    others = f"; there are {len(direct)} with {[run.payload for run in direct][:5]!r}" if payload is not None else ""
    if times is None:
        assert runs, f"no run of {wanted} was enqueued{others}"
    else:
        assert len(runs) == times, f"{len(runs)} runs of {wanted} were enqueued, {times} expected{others}"
    return runs


def _has(payload: Any, part: Mapping[str, Any]) -> bool:
    return isinstance(payload, Mapping) and part.items() <= payload.items()


def _told(words: str, instants: list[datetime]) -> str:
    shown = ", ".join(one.isoformat() for one in instants[:5]) + (", ..." if len(instants) > 5 else "")
    return f"{words} {shown}; " if instants else ""


def _now(app: Duly) -> str:
    return to_datetime(app.clock.now()).isoformat()


async def _get(app: Duly, id: str) -> Run:
    run = await app.runs.get(id)
    assert run is not None
    return run


async def _open_runs(app: Duly) -> list[Run]:
    return [run for status in _OPEN async for run in app.runs.iterate(status=status.value)]


def _clock_of(app: Duly) -> ManualClock:
    assert isinstance(app.clock, ManualClock), "this app is on a real clock; use `travel(app)` or the fixture duly_app"
    return app.clock
