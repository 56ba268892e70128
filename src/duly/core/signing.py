"""Signatures by the Standard Webhooks specification: who receives a message can tell that we sent it, and when.

What is signed is ``<id>.<seconds>.<body>`` with HMAC-SHA256. While a secret is being changed a message carries a
signature by each of the good ones, and a receiver that knows either accepts it.
"""

from __future__ import annotations

import binascii
import hmac
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256

from .errors import SignatureInvalid, ValidationFailed

PREFIX = "whsec_"
"""What every secret begins with, so that people and scanners of leaks know one when they see it."""

SECRET_BYTES = 32
SHORTEST, LONGEST = 24, 64
TOLERANCE_S = 300
"""How old a message may be, and how far ahead the sender's clock, before a receiver takes it for a replay."""

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
_EXPECTED = f"{PREFIX} and then {SHORTEST} to {LONGEST} random bytes in base64"


def write_secret(entropy: bytes) -> str:
    """The text of a new secret, made of random bytes."""
    return PREFIX + b64encode(entropy).decode()


def check_secret(text: object, field: str = "secret") -> str:
    """Answer the secret, or refuse it without repeating it."""
    if not isinstance(text, str) or not text.startswith(PREFIX):
        raise _refused(field, f"does not begin with {PREFIX}" if isinstance(text, str) else "is not text")
    try:
        size = len(_key(text))
    except ValueError:
        raise _refused(field, f"is not base64 after {PREFIX}") from None
    if not SHORTEST <= size <= LONGEST:
        raise _refused(field, f"has {size} bytes")
    return text


def signature_headers(secrets: Iterable[str], *, id: str, seconds: int, body: bytes) -> dict[str, str]:
    """The headers of a message; one signature by each secret, the newest first, and none without a secret."""
    signatures = " ".join(_sign(_key(secret), id, seconds, body) for secret in secrets)
    return {ID: id, TIMESTAMP: str(seconds)} | ({SIGNATURE: signatures} if signatures else {})


def check_signature(
    secrets: Iterable[str], headers: Mapping[str, str], body: bytes, *, now_s: int, tolerance_s: int = TOLERANCE_S
) -> str:
    """Answer the id of a message that one of the secrets has signed of late; SignatureInvalid for any other.

    The names of headers may be written in any case. How long it takes tells nothing of a secret.
    """
    given = {name.lower(): value for name, value in headers.items()}
    missing = [name for name in (ID, TIMESTAMP, SIGNATURE) if not given.get(name)]
    if missing:
        raise SignatureInvalid(f"the message has no {missing[0]}; expected {ID}, {TIMESTAMP} and {SIGNATURE}")
    seconds = _seconds(given[TIMESTAMP])
    if abs(now_s - seconds) > tolerance_s:
        raise SignatureInvalid(
            f"the message is from {seconds}, and it is {now_s}; expected {tolerance_s} seconds between them at most:"
            " it is a replay, or a clock is wrong"
        )
    # Compared as bytes: what came may hold characters that are not ASCII, which a comparison of text refuses.
    came = [word.encode() for word in given[SIGNATURE].split(" ")]
    good = False
    for secret in secrets:
        right = _sign(_key(secret), given[ID], seconds, body).encode()
        for word in came:
            good = hmac.compare_digest(right, word) or good
    if not good:
        raise SignatureInvalid("none of the signatures is by this secret for this body; do not trust the message")
    return given[ID]


def _sign(key: bytes, id: str, seconds: int, body: bytes) -> str:
    signed = f"{id}.{seconds}.".encode() + body
    return "v1," + b64encode(hmac.digest(key, signed, sha256)).decode()


def _key(secret: str) -> bytes:
    """The bytes of a secret; one without the prefix is taken for its base64, as other libraries do."""
    try:
        return b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("a webhook secret is not base64") from None


def _seconds(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 12:
        raise SignatureInvalid(f"{TIMESTAMP} is {text[:40]!r}; expected seconds since 1970")
    return int(text)


def _refused(field: str, why: str) -> ValidationFailed:
    return ValidationFailed(f"{field} {why}; expected {_EXPECTED}", field=field, expected=_EXPECTED)
