"""A misspelt name and the known one that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(given: str, known: Iterable[str]) -> str | None:
    """The known name most like the given one, or None if none is like it."""
    import difflib  # only when something is wrong

    close = difflib.get_close_matches(given, sorted(known), n=1, cutoff=0.75)
    return close[0] if close else None
