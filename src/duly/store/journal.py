"""What a workflow asks a store to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from duly.core.steps import Step

from .values import NewRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A run to be made for the body of another; ``awaited`` ones tell it of their end."""

    position: int
    request: NewRequest
    awaited: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What has come of one run since its last record, guarded by (run, fence, session) like every write after a claim.

    ``seen`` is the newest message that the worker knows of, ``taken`` are those that it has given to the body;
    ``job`` names the version that the run has begun on. ``progress`` says that something has ended: what was lost or
    failed before is forgiven.
    """

    run_id: str
    fence: int
    session: int
    steps: Sequence[Step] = ()
    seen: int = 0
    taken: Sequence[int] = ()
    published: Mapping[str, str] = field(default_factory=dict)
    children: Sequence[Child] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    job: str | None = None
    progress: bool = False
