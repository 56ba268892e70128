"""How long a call may take: every wait has an end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds. ``operation`` bounds a whole call with its retries; the others bound its parts.

    Only a call that has to connect first may take ``connect`` longer, which libpq makes two seconds at least.
    """

    connect: float = 5
    statement: float = 10
    lock: float = 3
    idle: float = 5
    operation: float = 30
    migration: float = 600

    def in_ms(self) -> dict[str, int]:
        """What a transaction tells the server, by the names used in ``transactions/*.sql``."""
        return {
            "statement": _ms(min(self.statement, self.operation)),
            "lock": _ms(min(self.lock, self.operation)),
            "idle": _ms(self.idle),
        }


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1000))
