"""Topics: what a fire of a topic's schedule tells its listeners, and under which names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

TOPIC = re.compile(r"[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*){0,2}", re.ASCII)
ARRIVED = "schedule.arrived"
ANY_TOPIC = "topic:*"
"""What an instance lists among its jobs when it listens to every topic."""

_PREFIX = "topic:"
_OF_A_TOPIC = re.compile(rf"schedule\.({TOPIC.pattern})\.arrived", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleArrived:
    """A window of a topic's schedule has come.

    ``id`` is the run's and the same on every attempt; ``fired_at`` is when this attempt reached the listener.
    """

    id: str
    scheduled_job_id: str
    topic: str
    user_payload: Any
    metadata: Mapping[str, str | None]
    timezone: str
    original_scheduled_at: datetime
    fired_at: datetime
    attempt: int
    max_attempts: int
    window_key: str | None = None

    @property
    def names(self) -> tuple[str, str]:
        """The two names under which it is told."""
        return ARRIVED, f"schedule.{self.topic}.arrived"


def topic_of_event(name: str) -> str | None:
    """The topic that an event's name asks for, e.g. ``billing.due`` of ``schedule.billing.due.arrived``."""
    found = _OF_A_TOPIC.fullmatch(name)
    return found[1] if found else None


def topic_of_handler(handler: str) -> str | None:
    """The topic of the runs that a worker claims under this name."""
    return handler.removeprefix(_PREFIX) if handler.startswith(_PREFIX) else None


def handler_of(topic: str) -> str:
    """The name under which a worker claims the runs of a topic."""
    return _PREFIX + topic


def takes(jobs: Collection[str], job: str) -> bool:
    """Whether somebody who lists these jobs can execute that one."""
    return job in jobs or (ANY_TOPIC in jobs and job.startswith(_PREFIX))
