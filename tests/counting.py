"""Counts what a check iterates over, because a check that finds nothing would pass without checking anything."""

from collections.abc import Sized
from typing import TypeVar

Items = TypeVar("Items", bound=Sized)


def at_least(items: Items, number: int, what: str) -> Items:
    """Return the items, or fail if there are fewer than ``number``, which is today's count.

    A commit that removes some of them on purpose also lowers the number.
    """
    assert len(items) >= number, (
        f"found {len(items)} {what}, expected at least {number}: either the check no longer finds them all, or some"
        " were removed on purpose; then lower the number in this commit"
    )
    return items
