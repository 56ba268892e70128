"""One row of the table of routes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from duly.core.credential import Scope

from . import queries
from .http import Method, Run

TIMING_CODES = (
    "SCHEDULE_CRON_INVALID",
    "SCHEDULE_TIMEZONE_INVALID",
    "SCHEDULE_INTERVAL_TOO_SHORT",
    "SCHEDULE_MOMENT_IN_PAST",
)
SCHEDULE_CODES = (
    *TIMING_CODES, "SCHEDULE_TOPIC_INVALID", "SCHEDULE_RETRY_POLICY_INVALID", "CALENDAR_UNKNOWN", "CONFLICT"
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One row. ``codes`` are its own problems; those of every request are not repeated here.

    ``also`` is another status that it may answer, with ``also_answer`` where that has another shape.
    ``scope`` is what a caller needs; a route without one is open to nobody once callers must say who they are, unless
    it is ``open`` to anybody: then what it names is a secret.
    ``once`` is False where a request may be repeated as it is, so it takes no key; ``waits`` where an answer may take a
    while and is not worth making for a client that has left. ``local_first`` needs a credential from everybody but this
    machine, also on a server that is open to all.
    """

    method: str
    path: str
    name: str
    summary: str
    said: str = ""
    run: Run
    scope: Scope | None = None
    answer: Any = None
    status: int = 200
    also: int | None = None
    also_answer: Any = None
    body: type[Struct] | None = None
    body_needed: bool = True
    query: Mapping[str, queries.Read] = field(default_factory=dict)
    if_match: bool = False
    etag: bool = False
    codes: tuple[str, ...] = ()
    streams: bool = False
    once: bool = True
    waits: bool = False
    open: bool = False
    local_first: bool = False

    @property
    def served(self) -> Method:
        """How the endpoint serves it."""
        takes_body = self.body is not None
        return Method(
            self.run,
            takes_body=takes_body,
            needs_body=takes_body and self.body_needed,
            takes_query=bool(self.query),
            keyed=self.keyed,
            if_match=self.if_match,
            scope=self.scope,
            waits=self.waits,
            open=self.open,
            local_first=self.local_first,
        )

    @property
    def keyed(self) -> bool:
        """Whether it takes an ``Idempotency-Key``; the others may be repeated, or answer what must not be kept."""
        keyless = self.path.endswith(":preview") or self.path.startswith("/keys") or not self.once
        return self.method == "POST" and not keyless
