"""Pages of lists that no index serves: one look of the store is bounded, so the app looks on for a while."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

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
