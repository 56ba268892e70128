"""Test support for apps: a manual clock, time travel for a whole app, the replay of recorded runs, and the contract
for targets.

Only ``duly.testing.contract`` and ``duly.testing.plugin`` need pytest. Names are imported on first use, because every
pytest run loads the plugin.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duly.testing.asserting import assert_enqueued, assert_fired, drain
    from duly.testing.clock import ManualClock, NeverAtRest, Watched
    from duly.testing.replaying import assert_replayable, history_of
    from duly.testing.travelling import travel

__all__ = [
    "ManualClock",
    "NeverAtRest",
    "Watched",
    "assert_enqueued",
    "assert_fired",
    "assert_replayable",
    "drain",
    "history_of",
    "travel",
]

_HOMES = {
    "asserting": ("assert_enqueued", "assert_fired", "drain"),
    "clock": ("ManualClock", "NeverAtRest", "Watched"),
    "replaying": ("assert_replayable", "history_of"),
    "travelling": ("travel",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
