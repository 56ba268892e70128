"""Durations as text: ISO 8601 (``PT1H30M``, ``P14D``) and the short form (``1h30m``, ``90s``, ``500ms``)."""

from __future__ import annotations

import re
from typing import Final

from duly.core.timing.refusal import refused

MAX_DURATION_MS: Final = 10 * 366 * 86_400_000

_UNIT_MS: Final = (604_800_000, 86_400_000, 3_600_000, 60_000, 1000, 1)
_NUMBER = r"([0-9]{1,15}(?:[.,][0-9]{1,9})?)"
_ISO = re.compile(rf"P(?:{_NUMBER}W)?(?:{_NUMBER}D)?(?:T(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?")
_SHORT = re.compile("".join(rf"(?:{_NUMBER}{unit})?" for unit in ("w", "d", "h", "m(?!s)", "s", "ms")))
_BETWEEN_PARTS = re.compile(r"(?<=[a-z]) (?=[0-9])")
_EXPECTED: Final = "a duration such as '30s', '5m', '1h30m', 'PT15M' or 'P14D' (no months or years), at most 10 years"


def parse_duration(text: object, *, least_ms: int = 1) -> int:
    """Whole milliseconds, at least ``least_ms`` and at most ten years; a week is 168 hours and a day 24.

    Years and months are refused, since they have no fixed length, and so is anything finer than a millisecond.
    """
    if not isinstance(text, str) or len(text) > 64:
        raise refused("duration", text, _EXPECTED)
    shape = _ISO.fullmatch(text) or _SHORT.fullmatch(_BETWEEN_PARTS.sub("", text.lower()))
    if shape is None or not any(shape.groups()) or text.endswith("T"):
        raise refused("duration", text, _EXPECTED)
    # ISO text has no milliseconds of its own, so its parts are one fewer.
    parts = zip(shape.groups(), _UNIT_MS, strict=False)
    total = sum(_milliseconds(text, number, unit_ms) for number, unit_ms in parts if number)
    if not least_ms <= total <= MAX_DURATION_MS:
        raise refused("duration", text, _EXPECTED)
    return total


def _milliseconds(text: str, number: str, unit_ms: int) -> int:
    whole, _, fraction = number.replace(",", ".").partition(".")
    scale = int("1" + "0" * len(fraction))
    parts, left_over = divmod(int(fraction or 0) * unit_ms, scale)
    if left_over:
        raise refused("duration", text, _EXPECTED)
    return int(whole) * unit_ms + parts
