"""Keys, bound to their programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from duly.core.credential import Key
from duly.store.guarding import NewKey
from duly.store.methods import keys

from .base import Bound


class BoundKeys(Bound):
    """``protocol.Keys`` on a driver."""

    async def put_key(self, new: NewKey) -> Key:
        return await self._write(partial(keys.put_key, new=new))

    async def rotate_key(self, id: str, new: Callable[[Key], NewKey], *, keep_ms: int) -> Key | None:
        return await self._write(partial(keys.rotate_key, id=id, new=new, keep_ms=keep_ms))

    async def revoke_key(self, id: str) -> Key | None:
        return await self._write(partial(keys.revoke_key, id=id))

    async def find_key(self, id: str) -> Key | None:
        return await self._read(partial(keys.find_key, id=id))

    async def list_keys(self) -> list[Key]:
        return await self._read(keys.list_keys)

    async def has_keys(self) -> bool:
        return await self._read(keys.has_keys)

    async def touch_key(self, id: str) -> None:
        await self._write(partial(keys.touch_key, id=id))
