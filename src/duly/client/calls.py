"""What is sent and what comes back, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Answer = dict[str, Any]
"""What the API answers; an answer without a body is empty."""


class _Nothing:
    """No body at all, which is not the same as ``null``."""


NOTHING: Any = _Nothing()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request. ``repeatable``: sent twice, it has the effect of once."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = NOTHING
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait so many seconds before the next try."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    """The server answered."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """The server did not answer. ``sent`` is False when the request surely never reached it."""

    reason: str
    sent: bool
