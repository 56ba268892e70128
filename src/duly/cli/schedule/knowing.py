"""A word about jobs that nobody knows: mostly misspelt, sometimes only not deployed yet."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from duly.cli.backend import Backend
from duly.cli.printing import printer
from duly.core.errors import DulyError


def warn_of_unknown_jobs(reach: Backend, jobs: Iterable[str | None]) -> None:
    """Say which of the jobs no live worker knows. It never fails, and is silent while no worker is alive."""
    wanted = {job for job in jobs if isinstance(job, str)}
    if not wanted:
        return
    try:
        known = reach.known_jobs()
    except DulyError:  # what was asked for is done; this was only a courtesy
        return
    for job in sorted(wanted - known) if known else ():
        near = get_close_matches(job, sorted(known), 3)
        advice = f"did you mean {' or '.join(map(repr, near))}?" if near else "its runs wait until one does"
        printer().say(f"warning: no live worker knows job {job!r}; {advice}")
