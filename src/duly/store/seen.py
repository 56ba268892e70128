"""What people see of many runs at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Minute:
    """What there is of one minute, from ``at`` on: ``ended`` are skipped ones too, and ``dead`` are some of them."""

    at: int
    ended: int
    open: int
    dead: int


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How the newest runs of a schedule ended, the newest first, and how many are open."""

    ended: tuple[str, ...] = ()
    open: int = 0
