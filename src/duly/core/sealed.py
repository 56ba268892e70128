"""Sealed text: what it looks like, and which keys there are. Sealing itself is the store's.

A sealed text is ``$duly1$<key>$<base64>$<whose>``. JSON never begins so: what is sealed cannot be taken for a value.
"""

from __future__ import annotations

import binascii
import json
import re
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import PayloadUnreadable

MARK = "$duly1$"
PLAIN = "plain"
"""Stands for no key: written first, new values are stored as they are while what was sealed is still read."""

KEY_BYTES = 32
EXPECTED = "texts such as '2026a:' and 32 bytes in base64 (duly db key makes one), or 'plain' first"
_ID = re.compile(r"[A-Za-z0-9._-]{1,32}")


@dataclass(frozen=True, slots=True)
class SealKey:
    """A key and the name that sealed texts call it by."""

    id: str
    secret: bytes = field(repr=False)


def read_keys(words: Sequence[str]) -> tuple[SealKey | None, ...]:
    """The keys that a setting names, in its order; None is ``plain``. A ValueError says what is wrong, and no key."""
    keys: list[SealKey | None] = []
    for place, word in enumerate(words):
        if word == PLAIN:
            if place:
                raise ValueError("'plain' is not the first")
            keys.append(None)
            continue
        id, found, secret = word.partition(":")
        if not found or not _ID.fullmatch(id) or id == PLAIN:
            raise ValueError(f"number {place + 1} has no name before a colon")
        if any(key is not None and key.id == id for key in keys):
            raise ValueError(f"key {id!r} is there twice")
        try:
            known = b64decode(secret, validate=True)
        except binascii.Error:
            raise ValueError(f"key {id!r} is not base64") from None
        if len(known) != KEY_BYTES:
            raise ValueError(f"key {id!r} has {len(known)} bytes, not {KEY_BYTES}")
        keys.append(SealKey(id, known))
    if len(keys) == 1 and keys[0] is None:
        raise ValueError("'plain' stands alone: leave the setting out instead")
    return tuple(keys)


def is_sealed(text: str) -> bool:
    return text.startswith(MARK)


def parts_of(sealed: str) -> tuple[str, str, str]:
    """The key's name, the sealed bytes in base64, and whose it is."""
    key, _, rest = sealed.removeprefix(MARK).partition("$")
    data, _, whose = rest.partition("$")
    return key, data, whose


def readable(text: str) -> str:
    """The text, unless it is still sealed: then PayloadUnreadable, which names the key that it needs."""
    if not text.startswith(MARK):
        return text
    key = parts_of(text)[0]
    raise PayloadUnreadable(
        f"a stored value is sealed with key {key[:32]!r}, which payload_keys does not have or which does not fit it;"
        " nothing is lost: add the key and try again",
        key=key[:32],
    )


def read_json(text: str) -> Any:
    """What stored JSON says; PayloadUnreadable if it is still sealed."""
    try:
        return json.loads(text)
    except ValueError:
        readable(text)
        raise
