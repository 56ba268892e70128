"""Lets an instance tell webhooks, where what that needs is installed."""

from __future__ import annotations

from contextlib import AsyncExitStack
from importlib.util import find_spec

from duly.config import Settings
from duly.core.addresses import read_allowed
from duly.engine.registry import Registry
from duly.runtime.clock import Clock
from duly.store.sql import SqlStore


def tell_webhooks(registry: Registry, store: SqlStore, settings: Settings, clock: Clock, stack: AsyncExitStack) -> None:
    """Register the handler that tells webhooks; without the extra, what is to be told waits for another instance."""
    if find_spec("httpcore2") is None:
        return
    from duly.targets.notifying import Notifier
    from duly.targets.posting import Poster
    from duly.targets.webhook import Sender

    sender = Sender(Poster(read_allowed(settings.webhook_allow)), clock)
    stack.push_async_callback(sender.close)
    registry.put(Notifier(store, clock, sender).handler)
