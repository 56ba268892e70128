"""For whoever receives webhooks: whether a message is from who has the secret, and of late."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from duly.core.errors import SignatureInvalid
from duly.core.signing import TOLERANCE_S, check_signature
from duly.runtime.clock import SystemClock


def verify_webhook(
    body: bytes, headers: Mapping[str, str], secret: str | Iterable[str], *, tolerance: int = TOLERANCE_S
) -> Any:
    """The message of a webhook, once its signature is found good; else SignatureInvalid, and it must not be trusted.

    ``body`` is the raw body, byte for byte. Give several secrets while one is being replaced. ``tolerance`` is how many
    seconds old a message may be. The same message may come twice: its ``webhook-id`` is the same then.
    """
    secrets = [secret] if isinstance(secret, str) else list(secret)
    check_signature(secrets, headers, body, now_s=SystemClock().now() // 1000, tolerance_s=tolerance)
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError:
        raise SignatureInvalid("the message is signed, and its body is no JSON") from None
