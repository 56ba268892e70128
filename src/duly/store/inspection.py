"""A database as it is found, looked at without creating, upgrading or locking anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it is, and what to do about it unless it is well."""

    level: Level
    subject: str
    text: str
    advice: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """``schema`` is 0 where duly's tables are not there yet; ``rows`` may be estimates, as ``estimated`` says."""

    kind: str
    place: str
    version: str
    exists: bool
    newest: int
    schema: int = 0
    size_bytes: int = 0
    rows: Mapping[str, int] = field(default_factory=dict)
    estimated: bool = False
    findings: Sequence[Finding] = ()

    @property
    def pending(self) -> int:
        """How many steps of the schema are yet to be applied."""
        return self.newest - self.schema
