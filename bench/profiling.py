"""CPU time by function, over all threads of a process: ``--profile FOLDER``, then ``python -m pstats FOLDER/…``."""

from __future__ import annotations

import cProfile
import pstats
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")


def profiled(call: Callable[[], T], path: str) -> T:
    """Call, and write what every thread spent to a file. CPU time only: waiting costs nothing here."""
    profiles: list[cProfile.Profile] = []

    def begin(frame: FrameType | None, event: str, argument: Any) -> None:
        profile = cProfile.Profile(time.thread_time)
        profiles.append(profile)
        profile.enable()

    threading.setprofile(begin)
    begin(None, "", None)
    try:
        return call()
    finally:
        profiles[0].disable()
        threading.setprofile(None)
        stats = pstats.Stats(profiles[0])
        for profile in profiles[1:]:
            stats.add(profile)
        stats.dump_stats(path)
