"""What a store promises about webhooks: who is to be told of what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from duly.core.webhook import Webhook

from .values import Page


class Webhooks(Protocol):
    async def put_webhook(self, new: Webhook) -> Webhook:
        """Keep a webhook; one with that id that is kept already is answered as it is.

        From then on every transaction of this store tells it; other stores on the database follow within moments.
        """
        ...

    async def change_webhook(self, id: str, change: Callable[[Webhook, int], Webhook]) -> Webhook | None:
        """Make of a webhook what the pure function makes of it and of the store's now; None if there is none."""
        ...

    async def delete_webhook(self, id: str) -> bool:
        """Forget a webhook; False if there was none. What was to be told already is not taken back."""
        ...

    async def get_webhook(self, id: str) -> Webhook | None: ...

    async def list_webhooks(self, *, limit: int, after: str | None = None, tenant: str | None = None) -> Page[Webhook]:
        """One page in id order, which is the order of creation."""
        ...

    async def tell_overdue(self, *, late_ms: int, limit: int) -> int:
        """Tell of schedules whose fire has been owed for longer than that, and of those that were and are no more.

        Each is told once, whoever asks how often. Answers how many are owed of those that were told.
        """
        ...
