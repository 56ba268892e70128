"""How long the server waits for a client, and how many clients it has at once."""

from __future__ import annotations

from dataclasses import dataclass

HEADERS_LIMIT = 16 * 1024
"""Bytes that the head of a request may have, its first line included."""

URL_LIMIT = 8 * 1024
SPARE = 32
"""Connections beyond the limit that may still ask about health."""

_OWN_FILES = 200
"""Descriptors for what is not a connection: stores, logs, sessions, the loop."""

_AT_LEAST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Durations in seconds. ``max_connections`` is what is left of it after the files that the process needs."""

    header_timeout: float = 10.0
    body_timeout: float = 20.0
    send_timeout: float = 30.0
    keep_alive_timeout: float = 65.0
    max_connections: int = 1000


def connections_for(wanted: int) -> int:
    """As many connections as this process may have: asks the system for enough descriptors, and takes what it gives."""
    try:
        import resource
    except ImportError:
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + SPARE + _OWN_FILES
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    given = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, given), hard))
    return max(min(wanted, max(soft, given) - SPARE - _OWN_FILES), _AT_LEAST)
