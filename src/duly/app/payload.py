"""Payloads: any JSON value, within limits, refused before anything is stored."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from duly.core.errors import PayloadTooLarge, ValidationFailed

DEPTH_LIMIT = 64
_encode = msgspec.json.Encoder().encode


def encode_payload(payload: Any, limit: int) -> str:
    """Write a payload as JSON; NaN, NUL characters, too much depth and too many bytes are refused by name."""
    if payload == {} and isinstance(payload, dict):
        return "{}"
    _check(payload, "payload", DEPTH_LIMIT)
    try:
        text = _encode(payload)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ValidationFailed(f"payload is not JSON: {error}; give plain values", field="payload") from None
    if len(text) > limit:
        raise PayloadTooLarge(
            f"payload has {len(text)} bytes; at most {limit} are allowed: store it elsewhere and pass a reference",
            field="payload",
            got=len(text),
            expected=f"at most {limit} bytes",
        )
    return text.decode()


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
