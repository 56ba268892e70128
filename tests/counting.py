"""How much a check has seen: one that goes through what it finds would pass without checking when it finds nothing."""

from collections.abc import Sized
from typing import TypeVar

Items = TypeVar("Items", bound=Sized)


def at_least(items: Items, number: int, what: str) -> Items:
    """Return the items if there are so many; ``number`` is how many there are today.

    Who takes some away on purpose lowers the number in the same commit.
    """
    assert len(items) >= number, (
        f"found {len(items)} {what}, expected at least {number}: either the check no longer finds them all, or some"
        " were removed on purpose; then lower the number in this commit"
    )
    return items
