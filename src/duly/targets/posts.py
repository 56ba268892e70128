"""Webhooks as targets of schedules: each run is a POST of its own, so that a slow host keeps nobody else waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from duly.core.outside import WEBHOOK_HANDLER
from duly.engine.context import RunContext
from duly.engine.outcomes import Snooze
from duly.engine.registry import Handler, Mode

from .delivering import Deliverer, Surroundings
from .target import Message, Target, Verdict
from .webhook import Busy, Sender, WebhookTarget


class Posts(Deliverer):
    """Sends the runs of all schedules with a webhook; URL and secret are those of the schedule.

    There is no breaker over all of them: each host has a gate of its own.
    """

    def __init__(self, sender: Sender, around: Surroundings) -> None:
        nowhere: Target = WebhookTarget("", (), sender)
        super().__init__(nowhere, "webhook", around, together=False)
        self._sender = sender

    def handler(self, name: str = WEBHOOK_HANDLER) -> Handler:
        return replace(super().handler(name), mode=Mode.ASYNC, outlet=None)

    async def _deliver(self, run: RunContext) -> Any:
        try:
            return await super()._deliver(run)
        except _Later as later:
            return Snooze(seconds=later.wait)

    async def _ask(self, messages: Sequence[Message]) -> Sequence[Verdict]:
        verdicts: list[Verdict] = []
        for message in messages:  # there is one, since each goes alone
            secret = message.options.get("secret")
            verdict = await self._sender.send(message.options["url"], [] if secret is None else [secret], message)
            if isinstance(verdict, Busy):
                raise _Later(verdict.wait)
            verdicts.append(verdict)
        return verdicts


class _Later(Exception):
    """Its host has enough to do; it was not sent, so no attempt is spent."""

    def __init__(self, wait: float) -> None:
        super().__init__(wait)
        self.wait = wait
