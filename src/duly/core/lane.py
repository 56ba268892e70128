"""Keys that a run may be enqueued with: a singleton's line, and a name that one open run has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Singleton:
    """Of the runs with this key at most ``max_running`` may go; the others wait in the order they came.

    ``max_queued`` is how long their line may be; None is no bound.
    """

    key: str
    max_running: int = 1
    max_queued: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unique:
    """While a run with this key is open, or was enqueued less than ``for_ms`` ago, there is no second one.

    Whoever asks for it gets the first, or with ``refuse`` an error that names it.
    """

    key: str
    for_ms: int = 0
    refuse: bool = False
