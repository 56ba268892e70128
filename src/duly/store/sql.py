"""The store on SQL: every method of the protocol, bound to its program and run by the dialect's driver."""

from __future__ import annotations

from .bound.auditing import BoundAuditing
from .bound.calendars import BoundCalendars
from .bound.changes import BoundChanges
from .bound.dead import BoundDeadLetters
from .bound.engine import BoundClaiming, BoundFiring
from .bound.events import BoundEvents
from .bound.keeping import BoundKeeping, BoundSessions
from .bound.keys import BoundKeys
from .bound.operations import BoundOperations
from .bound.queues import BoundQueues
from .bound.requests import BoundRequests
from .bound.runs import BoundRuns
from .bound.schedules import BoundSchedules
from .bound.steps import BoundStepping
from .bound.switching import BoundSwitching
from .bound.webhooks import BoundWebhooks


class SqlStore(
    BoundSchedules,
    BoundChanges,
    BoundOperations,
    BoundCalendars,
    BoundSwitching,
    BoundFiring,
    BoundRuns,
    BoundClaiming,
    BoundStepping,
    BoundQueues,
    BoundDeadLetters,
    BoundRequests,
    BoundKeys,
    BoundEvents,
    BoundWebhooks,
    BoundSessions,
    BoundKeeping,
    BoundAuditing,
):
    """A ``Store`` on any driver."""
