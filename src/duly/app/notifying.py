"""Lets an instance post to webhooks, where what that needs is installed."""

from __future__ import annotations

from contextlib import AsyncExitStack
from importlib.util import find_spec

from duly.config import Settings
from duly.core.addresses import read_allowed
from duly.engine.registry import Registry
from duly.store.sql import SqlStore
from duly.targets.delivering import Surroundings


def tell_webhooks(
    registry: Registry, store: SqlStore, settings: Settings, around: Surroundings, stack: AsyncExitStack
) -> None:
    """Register who posts to webhooks; without the extra, what is for them waits for another instance."""
    if find_spec("httpcore2") is None:
        return
    from duly.targets.notifying import Notifier
    from duly.targets.posting import Poster
    from duly.targets.posts import Posts
    from duly.targets.webhook import Sender

    sender = Sender(Poster(read_allowed(settings.webhook_allow)), around.clock, around.observer)
    stack.push_async_callback(sender.close)
    registry.put(Notifier(store, around.clock, sender, with_errors=settings.webhook_errors).handler)
    registry.put(Posts(sender, around).handler())
