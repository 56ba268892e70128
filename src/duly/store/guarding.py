"""What a store promises about who may call, and about what each of them sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

from duly.core.credential import Key, Scope, Whose
from duly.core.quota import NO_QUOTAS, Quotas


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key to be kept; ``replaces`` is the one that it is to stand in for."""

    id: str
    digest: str
    name: str
    scopes: frozenset[Scope]
    owner: str | None = None
    tenant: str = ""
    quotas: Quotas = NO_QUOTAS
    queues: frozenset[str] | None = None
    expires_at: int | None = None
    by: str | None = None
    replaces: str | None = None


class Keys(Protocol):
    async def put_key(self, new: NewKey) -> Key:
        """Keep a key; one that is kept already is answered."""
        ...

    async def rotate_key(self, id: str, new: Callable[[Key], NewKey], *, keep_ms: int) -> Key | None:
        """Keep what the pure function makes of a key beside it, and let that one expire in a while at the latest.

        Until then both are good. None if there is no such key; one that is not good any more is refused.
        """
        ...

    async def revoke_key(self, id: str) -> Key | None:
        """End a key now, and answer it; twice is fine."""
        ...

    async def find_key(self, id: str) -> Key | None: ...

    async def list_keys(self) -> list[Key]:
        """All that were ever made, oldest first."""
        ...

    async def has_keys(self) -> bool:
        """Whether a key was ever made."""
        ...

    async def touch_key(self, id: str) -> None:
        """Write down that a key was used now."""
        ...


class Seeing(Protocol):
    def seen_by(self, whose: Whose) -> Self:
        """This store as one owner sees it: what is not theirs is not there, and the operations they begin are theirs.

        It is for what people ask; the engine works on the whole store.
        """
        ...
