"""What commands ask for: the port, and how it is opened on a store or on a server.

Both implementations answer the dictionaries of the REST API and raise the same errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import click

from .options import choices_of
from .reach import OnServer, find_reach

Answer = dict[str, Any]
Body = Mapping[str, Any]


class Backend(Protocol):
    """Schedules, runs and queues, wherever they are. Ids and keys are both accepted where one is asked for."""

    def create_schedule(self, body: Body) -> Answer: ...
    def apply_schedules(
        self, bodies: Sequence[Body], *, set: str | None, prune: str | None, dry_run: bool
    ) -> Answer: ...
    def known_jobs(self) -> frozenset[str]:
        """The jobs that live workers know, and those of an app that was named."""
        ...

    def get_schedule(self, ref: str) -> Answer: ...
    def list_schedules(self, query: Mapping[str, str]) -> Answer: ...
    def update_schedule(self, ref: str, changes: Body, if_revision: int | None) -> Answer: ...
    def pause_schedule(self, ref: str, *, reason: str | None, until: str | None) -> Answer: ...
    def resume_schedule(self, ref: str, *, catch_up: bool) -> Answer: ...
    def reschedule_schedule(self, ref: str, timing: Body) -> Answer: ...
    def trigger_schedule(self, ref: str, body: Body) -> Answer: ...
    def cancel_schedule(self, ref: str) -> Answer: ...
    def delete_schedule(self, ref: str, *, cancel_running: bool) -> None: ...
    def upcoming(self, ref: str, count: int) -> Answer: ...
    def preview(self, body: Body) -> Answer: ...
    def list_runs(self, query: Mapping[str, str]) -> Answer: ...
    def get_run(self, ref: str) -> Answer: ...
    def cancel_run(self, ref: str) -> Answer: ...
    def redrive_run(self, ref: str, body: Body) -> Answer: ...
    def list_dead(self, query: Mapping[str, str]) -> Answer: ...
    def redrive_dead(self, body: Body) -> Answer: ...
    def acknowledge_dead(self, body: Body) -> Answer: ...
    def list_queues(self) -> Answer: ...
    def get_queue(self, name: str) -> Answer: ...
    def update_queue(self, name: str, changes: Body) -> Answer: ...
    def pause_queue(self, name: str, *, reason: str | None) -> Answer: ...
    def resume_queue(self, name: str) -> Answer: ...


@contextmanager
def backend(*, creates: bool = False, looks: bool = True) -> Iterator[Backend]:
    """Open what this command line reaches for.

    Only what ``creates`` may make a database that is not there yet; what does not even look into one needs none.
    """
    reach = find_reach(choices_of(click.get_current_context()))
    if isinstance(reach, OnServer):
        from .on_server import ServerBackend

        with ServerBackend(reach.url, reach.key) as server:
            yield server
    else:
        from .on_store import StoreBackend

        with StoreBackend(reach, creates=creates, looks=looks) as store:
            yield store


def take(page: Any, query: Mapping[str, str], most: int | None) -> Answer:
    """Up to ``most`` items of a list (None for all), page after page; ``nextCursor`` says whether there are more."""
    items: list[Any] = []
    cursor: str | None = query.get("cursor")
    while True:
        left = 200 if most is None else min(200, most - len(items))
        asked = {**query, "limit": str(left)} | ({"cursor": cursor} if cursor else {})
        answer = page(asked)
        items += answer["items"]
        cursor = answer["nextCursor"]
        if cursor is None or (most is not None and len(items) >= most):
            return {"items": items, "nextCursor": cursor}


def jobs_of(instances: Answer) -> frozenset[str]:
    """The jobs that the workers among these processes know."""
    return frozenset(job for one in instances["items"] if "worker" in one["roles"] for job in one["jobs"])
