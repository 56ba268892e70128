"""What happened in a simulated life: a timeline for people, and a ledger of handlers for the judge."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Record:
    """Kept outside of the store, so that the store cannot talk its way out."""

    timeline: list[tuple[float, str]] = field(default_factory=list)
    starts: Counter[tuple[str, int]] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)

    def note(self, what: str) -> None:
        self.timeline.append((round(asyncio.get_running_loop().time(), 4), what))

    def started(self, node: str, run_id: str, fence: int) -> None:
        self.note(f"{node} begins {run_id[:13]} fence {fence}")
        self.starts[run_id, fence] += 1

    def done(self, node: str, run_id: str, fence: int) -> None:
        self.note(f"{node} has done {run_id[:13]} fence {fence}")

    def failed(self, run_id: str) -> None:
        self.failures[run_id] += 1

    def tail(self, most: int = 60) -> str:
        """The end of the timeline."""
        return "\n".join(f"{at:9.3f} {what}" for at, what in self.timeline[-most:])
