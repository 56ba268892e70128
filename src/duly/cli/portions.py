"""A long list of schedules in portions that one request can carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

MOST = 200
BYTES = 512 * 1024
MEMBERS = 8000
"""Half of what the API takes in one body, so that what stands around them has room."""


def portions(bodies: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """The same bodies in order, in lists that are not too long; at least one list."""
    portion: list[Mapping[str, Any]] = []
    size = members = 0
    for body in bodies:
        text = msgspec.json.encode(body)
        more = text.count(b":")  # each member has one, and some texts too
        if portion and (len(portion) == MOST or size + len(text) > BYTES or members + more > MEMBERS):
            yield portion
            portion, size, members = [], 0, 0
        portion.append(body)
        size += len(text)
        members += more
    yield portion
