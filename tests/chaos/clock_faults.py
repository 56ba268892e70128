"""T rows: clocks that are wrong, leap and stand still, and rules of zones that differ."""

from __future__ import annotations

import itertools
import shutil
import signal
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from duly import Cron
from tests.chaos.trial import LEASE, Trial
from tests.processes.fleet import ROOT

LEAP = 25
"""Seconds that a store's clock leaps: five times what counts as a leap, and over soon enough to see the way back."""


def set_clock(trial: Trial, name: str, offset: float) -> None:
    """Set the clock of an instance, or of the server, off by so many seconds; a rename, so that nobody reads half."""
    file = trial.clock_file(name)
    fresh = file.with_suffix(".new")
    fresh.write_text(f"{offset:+}")
    fresh.chmod(0o644)
    fresh.rename(file)
    trial.fleet.book.note("nemesis", what=f"clock of {name} {offset:+}")


async def wrong_clock(trial: Trial) -> None:
    """T01: the clock of one instance leaps an hour ahead, then an hour back."""
    await trial.ask(6)
    for offset in (3600, -3600, 0):
        set_clock(trial, "a", offset)
        await trial.pause(LEASE)
        await trial.ask(3)


async def skewed_clocks(trial: Trial) -> None:
    """T02: the clocks of the instances are 5 s ahead, 5 s behind and a minute ahead of the store's, all the time."""
    for name, offset in zip(trial.setting.instances, (5, -5, 60), strict=True):
        set_clock(trial, name, offset)
    await trial.ask(9)
    await trial.pause(2 * LEASE)


async def leaping_store(trial: Trial) -> None:
    """T03: the store's clock leaps ahead, and back again; the guard must have noticed, else the row is void."""
    whose = trial.setting.instances if trial.sqlite else ("server",)
    noticed = len(trial.fleet.ledger("clock jumped"))
    for offset in (LEAP, 0):
        await trial.ask(4)
        await trial.pause(1)
        for name in whose:
            set_clock(trial, name, offset)
        noticed = await trial.wait_for(partial(_more_leaps, trial, noticed), "the leap to be noticed")
        due = max(_newest_window(trial), round((time.time() + offset) * 1000))
        await trial.wait_for(partial(_fires_beyond, trial, due), "firing to go on by the store's clock")


async def back_steps(trial: Trial) -> None:
    """T04: the clock of the machine is set back by half a second every second, ten times."""
    for step in itertools.count(1):
        await trial.ask(2)
        for name in trial.setting.instances:
            set_clock(trial, name, -0.5 * step)
        await trial.pause(1)
        if step == 10:
            return


async def suspend(trial: Trial) -> None:
    """T06: everything stands still for four leases, the server too, as on a machine that sleeps."""
    await trial.ask(9)
    await trial.pause(0.5)
    names = list(trial.fleet.processes)
    server = trial.server if trial.setting.own_server else None
    for name in names:
        trial.fleet.signal(name, signal.SIGSTOP)
    if server is not None:
        server.pause()
    await trial.pause(4 * LEASE)
    if server is not None:
        server.resume()
    for name in names:
        trial.fleet.signal(name, signal.SIGCONT)
    await trial.works_again(time.time())


async def other_rules(trial: Trial) -> None:
    """T07: one instance has newer rules of a zone, seven seconds off; no window is begun twice, and both go on."""
    rules = trial.folder / "rules"
    if not trial.figures.repetitions:
        _copy_rules(rules)
        trial.unaudited.add("zoned")  # an audit has one set of rules
        timing = Cron("*/5 * * * * *", timezone="America/Sao_Paulo")
        await trial.client.schedules.create("zoned", timing, job="tick", overlap="allow", catch_up="all")
    trial.fleet.kill("b")
    paths = f"{rules}:{ROOT / 'src'}:{ROOT}"
    await trial.start("b", env={"PYTHONPATH": paths})
    await trial.pause(15)
    fired = [run async for run in trial.client.runs.iterate(schedule="zoned")]
    windows = [run.scheduled_at for run in fired]
    if len(windows) != len(set(windows)) or len(windows) < 2:
        trial.figures.findings.append(f"windows of the zone whose rules differ: {sorted(windows)}")
    trial.figures.remarks["windows of the zone"] = len(windows)


def _newest_window(trial: Trial) -> int:
    windows = [line["window"] for line in trial.fleet.ledger("start") if line.get("window")]
    return max((int(window.rpartition(":")[2]) for window in windows), default=0)


def _fires_beyond(trial: Trial, instant: int) -> bool:
    return _newest_window(trial) > instant


def _more_leaps(trial: Trial, seen: int) -> int:
    found = len(trial.fleet.ledger("clock jumped"))
    return found if found > seen else 0


def _copy_rules(rules: Path) -> None:
    spec = find_spec("tzdata")
    assert spec is not None
    assert spec.origin is not None
    shutil.copytree(Path(spec.origin).parent, rules / "tzdata")
    (rules / "tzdata/zoneinfo/America/Sao_Paulo").write_bytes(_fixed_zone(-3 * 3600 + 7))


def _fixed_zone(offset: int) -> bytes:
    """A TZif file of one offset."""
    header = b"TZif2" + bytes(15) + b"".join(n.to_bytes(4) for n in (0, 0, 0, 0, 1, 4))
    block = offset.to_bytes(4, signed=True) + b"\0\0" + b"-03\0"
    hours, rest = divmod(-offset, 3600)
    return header + block + header + block + f"\n<-03>{hours}:{rest // 60:02}:{rest % 60:02}\n".encode()
