"""Tells webhooks what a run of theirs says, and draws the line under one that takes nothing any more."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from duly.core.errors import Fatal
from duly.core.instants import to_datetime, to_ms
from duly.core.policy import Retry
from duly.core.run import Failed
from duly.core.webhook import GIVEN_UP_AFTER_MS, JOB, Webhook
from duly.engine.context import RunContext
from duly.engine.outcomes import Snooze
from duly.engine.registry import Handler, Mode
from duly.engine.signature import Arguments
from duly.runtime.clock import Clock
from duly.store.notices import Webhooks

from .envelope import JSON, STRUCTURED
from .target import Confirmed, Message, Refused, Stopped, TryAgain
from .webhook import Busy, Sender

RETRY = Retry(max_attempts=16, delay=5, max_delay=6 * 3600)
"""Soon at first, then every few hours, for about a day."""

_CONTEXT_ONLY = Arguments(job=JOB, context="run", whole=None, fields={}, takes_rest=True)
_encode = msgspec.json.Encoder().encode


class Notifier:
    """The handler of the runs that tell webhooks."""

    def __init__(self, store: Webhooks, clock: Clock, sender: Sender, *, with_errors: bool) -> None:
        self._store = store
        self._clock = clock
        self._sender = sender
        self._with_errors = with_errors

    @property
    def handler(self) -> Handler:
        return Handler(name=JOB, function=self._tell, mode=Mode.ASYNC, arguments=_CONTEXT_ONLY, retry=RETRY)

    async def _tell(self, run: RunContext, **_: Any) -> Any:
        said: dict[str, Any] = run.payload
        webhook = await self._store.get_webhook(said["webhookId"])
        if webhook is None:
            return {"told": False, "why": "the webhook was deleted"}
        if not webhook.enabled:
            why = f" ({webhook.disabled_reason})" if webhook.disabled_reason else ""
            raise Fatal(f"webhook {webhook.id} is disabled{why}; enable it and redrive this run")
        if not self._with_errors:  # an error's text may hold what is nobody else's: a query, a path, a name
            said = said | {"data": said["data"] | {"errorMessage": None}}
        secrets = webhook.good_secrets(self._clock.now())
        verdict = await self._sender.send(webhook.url_for(said["type"]), secrets, _message(run, said))
        match verdict:
            case Busy(wait):
                return Snooze(seconds=wait)
            case Confirmed():
                await self._took_it(webhook)
                return None
            case Refused(reason):
                raise Fatal(reason)
            case Stopped(reason):
                await self._disable(webhook, reason)
                raise Fatal(reason)
            case TryAgain(reason, retry_after):
                await self._did_not(webhook, reason)
                return Failed(reason, wait_ms=round((retry_after or 0) * 1000))

    async def _took_it(self, webhook: Webhook) -> None:
        if webhook.failing_since is not None:
            await self._store.change_webhook(webhook.id, lambda one, now: replace(one, failing_since=None))

    async def _did_not(self, webhook: Webhook, reason: str) -> None:
        """Note since when it takes nothing, once; after days of that it is told nothing more."""
        since = webhook.failing_since
        if since is None:
            await self._store.change_webhook(webhook.id, _failing)
        elif self._clock.now() - to_ms(since, "failing_since") >= GIVEN_UP_AFTER_MS:
            await self._disable(webhook, f"it has taken nothing since {_shown(since)}; the last time {reason}")

    async def _disable(self, webhook: Webhook, reason: str) -> None:
        await self._store.change_webhook(
            webhook.id, lambda one, now: replace(one, enabled=False, disabled_reason=reason[:500])
        )


def _failing(webhook: Webhook, now: int) -> Webhook:
    return replace(webhook, failing_since=webhook.failing_since or to_datetime(now))


def _message(run: RunContext, said: dict[str, Any]) -> Message:
    """The same on every attempt: its id is the run's, the rest is what the run keeps."""
    event = {
        "specversion": "1.0",
        "id": run.id,
        "source": said["source"],
        "type": said["type"],
        "time": said["time"],
        "datacontenttype": JSON,
        "data": said["data"],
    }
    return Message(
        id=run.id,
        type=said["type"],
        source=said["source"],
        time=run.scheduled_at,
        body=_encode(event),
        content_type=STRUCTURED,
        payload="",
        headers={"duly-type": said["type"]},
        attempt=run.attempt,
        fence=run.fence,
    )


def _shown(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")
