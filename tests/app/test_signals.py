"""The signals of a process that is duly's own; what whole processes make of them is in tests/processes."""

import asyncio
import os
import signal

import pytest

from duly.app.signals import ECHO_WITHIN, until_signalled
from duly.runtime.clock import SystemClock

TERM, INT = signal.SIGTERM, signal.SIGINT


@pytest.mark.parametrize(
    ("second", "later", "exits"),
    [(TERM, 0.0, []), (TERM, ECHO_WITHIN - 0.1, []), (TERM, ECHO_WITHIN, [128 + TERM]), (INT, 0.0, [128 + INT])],
)
async def test_the_same_signal_at_once_is_an_echo_of_the_first_and_no_second(
    monkeypatch: pytest.MonkeyPatch, second: signal.Signals, later: float, exits: list[int]
) -> None:
    """As from ``timeout``, which tells the process and then its group."""
    now = 1000.0
    exited: list[int] = []
    monkeypatch.setattr(SystemClock, "steady", lambda clock: now)
    monkeypatch.setattr(os, "_exit", exited.append)
    former = signal.getsignal(TERM), signal.getsignal(INT)
    async with until_signalled() as stop:
        signal.raise_signal(TERM)
        now += later
        signal.raise_signal(second)
        await asyncio.wait_for(stop.wait(), 60)
    assert exited == exits
    assert (signal.getsignal(TERM), signal.getsignal(INT)) == former
