"""Tokens of webhooks that a workflow waits for: whoever has one may end that wait, and nobody can make one up.

A token names a run and a position, and carries a signature that only the store's secret makes.
"""

from __future__ import annotations

import hmac
import re
from base64 import urlsafe_b64encode

SECRET = "hooks"
"""The name of the store's secret."""

PATH = "/api/v1/hooks"
_BYTES = 24
_TOKEN = re.compile(r"([0-9a-f-]{36})\.(\d{1,9})\.([A-Za-z0-9_-]{32})", re.ASCII)


def hook_token(secret: str, run_id: str, position: int) -> str:
    """The token of what a run waits for at a position."""
    return f"{run_id}.{position}.{_signature(secret, run_id, position)}"


def read_hook_token(secret: str, token: str) -> tuple[str, int] | None:
    """The run and the position that a token names; None for one that was not made with this secret."""
    found = _TOKEN.fullmatch(token)
    if found is None:
        return None
    run_id, position = found[1], int(found[2])
    return (run_id, position) if hmac.compare_digest(_signature(secret, run_id, position), found[3]) else None


def _signature(secret: str, run_id: str, position: int) -> str:
    signed = hmac.digest(secret.encode(), f"{run_id}.{position}".encode(), "sha256")
    return urlsafe_b64encode(signed[:_BYTES]).decode()
