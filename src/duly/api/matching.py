"""``If-Match`` and ``If-None-Match``: which revisions a request is meant for."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from duly.core.errors import NotFound, RevisionRequired, RevisionStale

from .problems import BAD_HEADER
from .replies import Refused

Match = frozenset[int]
"""The revisions that fit; an empty one is any that is there."""

NEVER = -1
"""A revision that nothing has: that of a weak tag, or of one that is not ours."""

_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_TAGS = re.compile(rf"{_TAG}(?:\s*,\s*{_TAG})*")
_OURS = re.compile(r'"([1-9]\d{0,8})"')


def read_match(header: bytes) -> Match:
    """The revisions of ``If-Match``; a weak tag fits none, because it promises no sameness."""
    text = header.decode("latin-1").strip()
    if text == "*":
        return Match()
    ours = [_OURS.fullmatch(tag) for tag in _tags(text, "If-Match")]
    return Match(NEVER if one is None else int(one[1]) for one in ours)


def asks_for_none(header: bytes) -> bool:
    """Whether ``If-None-Match`` is ``*``: do it only where nothing is there. Other values are for caches."""
    text = header.decode("latin-1").strip()
    return text == "*" or not _tags(text, "If-None-Match")


async def meant(match: Match | None, present: Callable[[], Awaitable[int]], *, gone: bool = False) -> int | None:
    """The one revision that a request is meant for; of several that fit, the present one.

    ``*`` is whatever is there, and something has to be, unless it may be ``gone`` already.
    """
    if match is None or (gone and not match):
        return None
    if len(match) == 1:
        return min(match)
    there = await present()
    return None if not match else there if there in match else min(match)


def require(match: Match | None) -> None:
    """Refuse a change that does not say which revision it is meant for."""
    if match is None:
        raise RevisionRequired("this server asks for If-Match; send the ETag of what was read, or * for any revision")


@contextmanager
def there(match: Match | None) -> Iterator[None]:
    """Let a PUT that would create be refused where ``If-Match`` asks for something that is there (RFC 9110, 13.1.1).

    What is not found for any PUT stays not found, and must be told before.
    """
    try:
        yield
    except NotFound as error:
        if match is None:
            raise
        raise RevisionStale(f"{error.message}, and If-Match asks for one; leave it out to create it") from error


def _tags(text: str, name: str) -> list[str]:
    if not _TAGS.fullmatch(text):
        raise Refused(
            BAD_HEADER, "INVALID_HEADER", f'{name} is {text[:60]!r}; expected an ETag in quotes such as "3", or *'
        )
    return re.findall(_TAG, text)
