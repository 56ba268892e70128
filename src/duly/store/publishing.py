"""An event as a store is told of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event that is published, in whose name, and for how long its id is kept; 0 for one that nobody chose.

    ``space`` is where names of runs mean what they mean, ``limit`` how large a payload may become that is gathered.
    """

    name: str
    body: str
    id: str
    keep_ms: int = 0
    space: str = ""
    tenant: str = ""
    owner: str | None = None
    limit: int = 262_144
    trace: str | None = None
