"""Runs for outside targets: the names under which they are claimed, and the queues that they wait in.

A queue of a target holds the runs of that target alone, so a claim need not look into the queue of a target that it
does not want: a target that is down may have a million runs waiting, and nobody else pays for them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

QUEUES = "target:"
"""How the queues of targets begin; no other run may wait in one."""

_QUEUE_HANDLER = "queue:"
_WEBHOOK_HANDLERS = "webhook:"
WEBHOOK_HANDLER = "webhook:post"
"""One handler for all webhooks: their URLs are of the schedules, and without number."""

WEBHOOK_QUEUE = "target:webhook"
EXPECT_ANSWER = "ack"
"""What the ``expect`` of a target says whose receivers answer."""

RESERVED_NAME = "webhook"
"""A name that no target of the configuration may have, since webhooks wait in its queue."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Whose schedules may name a target: those of some owners and those of some tenants; without either, everybody's.

    What belongs to nobody was made by an admin or by the program itself, and may name every target.
    """

    owners: frozenset[str] = frozenset()
    tenants: frozenset[str] = frozenset()

    @property
    def open(self) -> bool:
        return not self.owners and not self.tenants

    def covers(self, tenant: str | None, owner: str | None) -> bool:
        """Whether what belongs to them may go to the target."""
        return self.open or owner in self.owners or tenant in self.tenants or (owner is None and not tenant)


EVERYBODYS = Grant()


def handler_of_target(name: str) -> str:
    """The name under which a worker claims the runs of a named target."""
    return _QUEUE_HANDLER + name


def queue_of_target(name: str) -> str:
    """The queue in which the runs of a named target wait."""
    return QUEUES + name


def what_it_takes(handler: str) -> str | None:
    """What lets a worker have one of these handlers, which stand in no app's code; None for a job."""
    if handler == WEBHOOK_HANDLER:
        return "pip install 'duly[webhook]' where one runs"
    if handler.startswith(_QUEUE_HANDLER):
        return f"give one the url of that target, [targets.{handler.removeprefix(_QUEUE_HANDLER)}]"
    return None


def holds_any(queue: str, jobs: Collection[str]) -> bool:
    """Whether a queue may hold runs of some of these jobs."""
    if not queue.startswith(QUEUES):
        return True
    if queue == WEBHOOK_QUEUE:
        return any(job.startswith(_WEBHOOK_HANDLERS) for job in jobs)
    return _QUEUE_HANDLER + queue.removeprefix(QUEUES) in jobs
