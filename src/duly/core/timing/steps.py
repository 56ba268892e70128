"""Steps within a field: from any value to the nearest one that a mask holds, as tables.

A table is a tuple that is indexed once, where a mask would be shifted and searched. Few masks are in use, so the
tables are shared.
"""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1024)
def next_values(mask: int, size: int) -> tuple[int, ...]:
    """For each value from 0 to ``size``: the least held value that is not below it, or -1."""
    if mask == (1 << size) - 1:
        return (*range(size), -1)
    table: list[int] = []
    for value in _held(mask, size):
        table += [value] * (value + 1 - len(table))
    return (*table, *[-1] * (size + 1 - len(table)))


@lru_cache(maxsize=1024)
def last_values(mask: int, size: int) -> tuple[int, ...]:
    """For each value from 0 below ``size``, and for -1: the greatest held value that is not above it, or -1."""
    if mask == (1 << size) - 1:
        return (*range(size), -1)
    table: list[int] = []
    latest = -1
    for value in _held(mask, size):
        table += [latest] * (value - len(table))
        latest = value
    return (*table, *[latest] * (size - len(table)), -1)


def _held(mask: int, size: int) -> list[int]:
    if mask & (mask - 1) == 0:
        return [mask.bit_length() - 1]
    return [value for value in range(size) if mask >> value & 1]
