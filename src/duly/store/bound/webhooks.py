"""Webhooks, bound to their programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from duly.core.webhook import Webhook
from duly.store.methods import webhooks
from duly.store.statements import T, Transaction
from duly.store.values import Page

from .base import Bound


class BoundWebhooks(Bound):
    """``protocol.Webhooks`` on a driver."""

    async def put_webhook(self, new: Webhook) -> Webhook:
        return await self._change(partial(webhooks.put_webhook, new=new))

    async def change_webhook(self, id: str, change: Callable[[Webhook, int], Webhook]) -> Webhook | None:
        return await self._change(partial(webhooks.change_webhook, id=id, change=change))

    async def delete_webhook(self, id: str) -> bool:
        return await self._change(partial(webhooks.delete_webhook, id=id))

    async def get_webhook(self, id: str) -> Webhook | None:
        return await self._read(partial(webhooks.find_webhook, id=id))

    async def list_webhooks(self, *, limit: int, after: str | None = None, tenant: str | None = None) -> Page[Webhook]:
        return await self._read(partial(webhooks.list_webhooks, limit=limit, after=after, tenant=tenant))

    async def tell_overdue(self, *, late_ms: int, limit: int) -> int:
        return await self._write(partial(webhooks.tell_overdue, late_ms=late_ms, limit=limit))

    def on_notified(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` when this store has made runs for webhooks."""
        self._notified_listeners.append(listener)

    async def _change(self, transaction: Transaction[T]) -> T:
        """Write, and look at once which events are wanted now."""
        try:
            return await self._write(transaction)
        finally:
            self._watch.forget()
