"""Pages of lists: filled where no index serves them and one look is bounded, and walked to the end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from duly.runtime.clock import Clock
from duly.store.values import Page

Item = TypeVar("Item")
LOOK_FOR = 0.5
"""Seconds after which a page is answered as it is; its cursor goes on from there."""


async def filled(
    look: Callable[[int, str | None], Awaitable[Page[Item]]], limit: int, cursor: str | None, clock: Clock
) -> Page[Item]:
    """Look until the page is full, the list is at its end, or LOOK_FOR has passed."""
    started = clock.steady()
    page = await look(limit, cursor)
    while page.next_cursor is not None and len(page.items) < limit and clock.steady() - started < LOOK_FOR:
        more = await look(limit - len(page.items), page.next_cursor)
        page = Page([*page.items, *more.items], more.next_cursor)
    return page


async def walked(look: Callable[..., Awaitable[Page[Item]]], **filters: Any) -> AsyncIterator[Item]:
    """All pages that ``look`` answers, one item after another; the first is that of the ``cursor``, if one is given."""
    cursor: str | None = filters.pop("cursor", None)
    while True:
        page = await look(**{"limit": 200, **filters, "cursor": cursor})
        for item in page.items:
            yield item
        cursor = page.next_cursor
        if cursor is None:
            return
