"""Who calls, and what they may do. Pure: where a credential is looked up, and when it is now, others say."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from .quota import NO_QUOTAS, Quotas


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
    """Whose schedules and runs are seen and changed: those of one owner in one tenant.

    ``schedules`` is how many that have not ended they may have.
    """

    tenant: str
    owner: str
    schedules: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls: ``name`` is what the audit trail says, ``owner`` and ``tenant`` are those of what they make.

    ``queues`` are those that a worker may claim from; None is all.
    """

    name: str | None
    scopes: frozenset[Scope]
    owner: str | None = None
    tenant: str = ""
    quotas: Quotas = NO_QUOTAS
    queues: frozenset[str] | None = None
    key_id: str | None = None

    @property
    def admin(self) -> bool:
        return Scope.ADMIN in self.scopes

    @property
    def whose(self) -> Whose | None:
        """What they see: their own; None is everything, for an admin."""
        return None if self.admin else Whose(self.tenant, self.owner or "", self.quotas.schedules)

    def may(self, scope: Scope | None) -> bool:
        """Whether a route that asks for this is open to them; one that asks for nothing is open to nobody."""
        return scope is not None and (scope in self.scopes or (self.admin and scope in BY_ADMIN))


ANYBODY = Caller(name=None, scopes=frozenset(Scope))
"""Whoever calls while nobody has to say who they are: they may do all."""

PREFIX = "duly_live_"
"""What every key begins with, so that people and scanners of leaks know one when they see it."""

ID_LENGTH, SECRET_BYTES = 8, 32
_SECRET_LENGTH = 43
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_FORM = re.compile(rf"{PREFIX}([0-9A-Za-z]{{{ID_LENGTH}}})[0-9A-Za-z]{{{_SECRET_LENGTH}}}")
NOBODYS = "0" * 64
"""A digest that no key has: what is compared where there is none, so that it takes as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key as it is kept: all but the key itself, of which only a digest is."""

    id: str
    name: str
    scopes: frozenset[Scope]
    owner: str | None = None
    tenant: str = ""
    quotas: Quotas = NO_QUOTAS
    queues: frozenset[str] | None = None
    created_at: datetime | None = None
    created_by: str | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    replaces: str | None = None
    digest: str = field(default=NOBODYS, repr=False)

    def is_good(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def caller(self) -> Caller:
        return Caller(
            name=f"key:{self.name}",
            scopes=self.scopes,
            owner=self.owner,
            tenant=self.tenant,
            quotas=self.quotas,
            queues=self.queues,
            key_id=self.id,
        )


def write_key(id_entropy: bytes, entropy: bytes) -> str:
    """The text of a new key, made of random bytes."""
    return PREFIX + _base62(id_entropy, ID_LENGTH) + _base62(entropy, _SECRET_LENGTH)


def key_id(text: str) -> str | None:
    """The id inside the text of a key, by which it is looked up; None if it is no key."""
    found = _FORM.fullmatch(text)
    return None if found is None else found[1]


def digest_of(text: str) -> str:
    """What is kept of a key. It is random and long, so that a fast digest cannot be turned round."""
    return sha256(text.encode()).hexdigest()


def is_it(text: str, digest: str) -> bool:
    """Whether this is the key of a digest; how long it takes tells nothing."""
    return hmac.compare_digest(digest_of(text).encode(), digest.encode())


def _base62(entropy: bytes, length: int) -> str:
    number = int.from_bytes(entropy)
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(digits)
