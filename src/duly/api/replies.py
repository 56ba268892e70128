"""What is answered, before it becomes bytes on a connection."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from .problems import Kind, problem

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Reply:
    """``value`` None is no body; ``raw`` is the body where it is encoded already.

    ``location`` is a path below the API's prefix, ``replayed`` says that nothing was done this time, and ``stream``
    is a body that comes part by part.
    """

    value: Any = None
    status: int = 200
    revision: int | None = None
    location: str | None = None
    raw: bytes | None = None
    replayed: bool = False
    stream: AsyncIterator[bytes] | None = None

    def encoded(self) -> Reply:
        """The same with its body as bytes."""
        return self if self.value is None else replace(self, value=None, raw=_encode(self.value))


class Refused(Exception):
    """A request that is answered before any operation is asked."""

    def __init__(self, kind: Kind, code: str, detail: str) -> None:
        super().__init__(detail)
        self.problem = problem(kind, code, detail)
