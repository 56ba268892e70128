"""Who calls, and what they may do. Pure: where a credential is looked up, and when it is now, others say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """What a credential allows. Each route asks for one of them."""

    READ = "read"
    WRITE = "write"
    TRIGGER = "trigger"
    ADMIN = "admin"
    WORKER = "worker"


BY_ADMIN = frozenset({Scope.READ, Scope.WRITE, Scope.TRIGGER, Scope.ADMIN})
"""What an admin may do: all but a worker's work, which is no person's."""


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose schedules and runs are seen and changed: those of one owner in one tenant."""

    tenant: str
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls: ``name`` is what the audit trail says, ``owner`` and ``tenant`` are those of what they make."""

    name: str | None
    scopes: frozenset[Scope]
    owner: str | None = None
    tenant: str = ""

    @property
    def admin(self) -> bool:
        return Scope.ADMIN in self.scopes

    @property
    def whose(self) -> Whose | None:
        """What they see: their own; None is everything, for an admin."""
        return None if self.admin else Whose(self.tenant, self.owner or "")

    def may(self, scope: Scope | None) -> bool:
        """Whether a route that asks for this is open to them; one that asks for nothing is open to nobody."""
        return scope is not None and (scope in self.scopes or (self.admin and scope in BY_ADMIN))


ANYBODY = Caller(name=None, scopes=frozenset(Scope))
"""Whoever calls while nobody has to say who they are: they may do all."""
