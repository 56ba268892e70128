"""Payloads: any JSON value, within limits, refused before anything is stored."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from duly.core.errors import PayloadTooLarge, QuotaExceeded, ValidationFailed
from duly.core.quota import Allowance

DEPTH_LIMIT = 64
_encode = msgspec.json.Encoder().encode


def encode_payload(payload: Any, limit: int) -> str:
    """Write a payload as JSON; NaN, NUL characters, too much depth and too many bytes are refused by name."""
    try:
        encoded = _encode(payload)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        _check(payload, "payload", DEPTH_LIMIT)
        raise ValidationFailed(f"payload is not JSON: {error}; give plain values", field="payload") from None
    text, size = encoded.decode(), len(encoded)
    if _suspect(text):
        _check(_plain(payload), "payload", DEPTH_LIMIT)
    if size > limit:
        if isinstance(limit, Allowance):
            raise QuotaExceeded(f"payload has {size} bytes; the quota is {limit}: send less, or ask for more")
        raise PayloadTooLarge(
            f"payload has {size} bytes; at most {limit} are allowed: store it elsewhere and pass a reference",
            field="payload",
            got=size,
            expected=f"at most {limit} bytes",
        )
    return text


def _suspect(text: str) -> bool:
    """Whether a payload may hold what is refused: most cannot, and need not be walked through.

    NaN and the infinities are written as null, NUL as an escape, and every level of depth has its own bracket.
    """
    deep = len(text) > DEPTH_LIMIT and text.count("{") + text.count("[") > DEPTH_LIMIT
    return deep or "null" in text or "\\u0000" in text


def _plain(payload: Any) -> Any:
    """What it is written as: a dataclass holds numbers and texts too."""
    try:
        return msgspec.to_builtins(payload, str_keys=True)
    except RecursionError:
        return payload


def _check(value: Any, where: str, depth: int) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValidationFailed(f"{where} is {value}; JSON has no such number", field="payload", got=value)
    if isinstance(value, str) and "\x00" in value:
        raise ValidationFailed(f"{where} has a NUL character; remove it", field="payload")
    if depth == 0 and isinstance(value, dict | list | tuple):
        raise ValidationFailed(f"payload is nested deeper than {DEPTH_LIMIT} levels", field="payload")
    if isinstance(value, dict):
        for key, item in value.items():
            _check(key, f"a key of {where}", depth - 1)
            _check(item, f"{where}[{key!r}]", depth - 1)
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            _check(item, f"{where}[{place}]", depth - 1)
