"""How much there is to do, and since when."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Waits:
    """For how long, in ms, the oldest of its kind has waited: a window that is due, a run that could be claimed, one
    of those that goes to a target. ``dead`` counts the dead letters up to a limit, ``dead_rows`` what PostgreSQL's
    vacuum has still to sweep up; None on a store that leaves nothing behind."""

    due_ms: int
    ready_ms: int
    outbox_ms: int
    dead: int
    dead_rows: int | None


@dataclass(frozen=True, slots=True)
class Load:
    """How much there is to do now, each number up to a limit: windows due, and runs by what they wait for."""

    due: int
    ready: int
    running: int
    in_lanes: int
    of_unknown_jobs: int
    firing_paused: bool = False
    waits: Waits | None = None
