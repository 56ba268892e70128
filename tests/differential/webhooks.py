"""Webhooks in the model: who wants what, asked one after another."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from duly.core.credential import Whose
from duly.core.errors import Conflict
from duly.core.event import Event
from duly.core.instants import to_datetime
from duly.core.run import NewRun
from duly.core.webhook import JOB, MISSED, Happening, Webhook, notification
from duly.runtime.clock import Clock
from duly.store.values import Page


class WebhooksModel:
    """The part of the model that tells webhooks."""

    _clock: Clock
    webhooks: dict[str, Webhook]
    owed: dict[str, int]
    whose: Whose | None
    facts: dict[str, Any]
    cursors: dict[str, Any]
    owners: dict[str, str]
    meta: dict[str, Any]

    def _insert(self, run: NewRun) -> bool:
        raise NotImplementedError

    def _sees(self, tenant: str | None, owner: str | None) -> bool:
        raise NotImplementedError

    def _found(self, id: str) -> Webhook | None:
        found = self.webhooks.get(id)
        return found if found is not None and self._sees(found.tenant, found.owner) else None

    async def put_webhook(self, new: Webhook) -> Webhook:
        at = to_datetime(self._clock.now())
        new = replace(new, created_at=at, updated_at=at)
        if self.whose is not None:
            new = replace(new, tenant=self.whose.tenant, owner=self.whose.owner)
        self.webhooks.setdefault(new.id, new)
        found = self._found(new.id)
        if found is None:
            raise Conflict(f"webhook id {new.id} is in use; choose another")
        return found

    async def change_webhook(self, id: str, change: Callable[[Webhook, int], Webhook]) -> Webhook | None:
        found, now = self._found(id), self._clock.now()
        if found is None:
            return None
        after = change(found, now)
        if after != found:
            after = replace(after, revision=found.revision + 1, updated_at=to_datetime(now))
        self.webhooks[id] = after
        return after

    async def delete_webhook(self, id: str) -> bool:
        found = self._found(id)
        if found is not None:
            del self.webhooks[id]
        return found is not None

    async def get_webhook(self, id: str) -> Webhook | None:
        return self._found(id)

    async def list_webhooks(self, *, limit: int, after: str | None = None, tenant: str | None = None) -> Page[Webhook]:
        found = [
            one
            for id, one in sorted(self.webhooks.items())
            if self._sees(one.tenant, one.owner) and id > (after or "") and tenant in (None, one.tenant)
        ]
        return Page(found[:limit], found[limit - 1].id if len(found) > limit else None)

    async def tell_overdue(self, *, late_ms: int, limit: int) -> int:
        before = self._clock.now() - late_ms
        owed = {
            id: c.fire_at for id, c in self.cursors.items() if c.fire_at is not None and c.fire_at < before
        }  # fmt: skip
        for id in self.owed.keys() - owed.keys():
            del self.owed[id]
        if self.meta["paused_at"] is None:
            for at, id in sorted((at, id) for id, at in owed.items())[:limit]:
                self.owed.setdefault(id, at)
        return len(self.owed)

    def _notify(self, events: Iterable[Event]) -> None:
        """Make the runs that tell the webhooks that want these events."""
        for event in events:
            names = [event.name]
            if event.name == "run.skipped" and event.reason in ("missed", "too_late"):
                names.append(MISSED)
            for webhook in self.webhooks.values():
                for name in names:
                    if webhook.enabled and name in webhook.events and self._wants(webhook, event):
                        self._tell(webhook, name, event)

    def _wants(self, webhook: Webhook, event: Event) -> bool:
        facts = self.facts.get(event.schedule_id or "")
        return (
            event.job != JOB
            and webhook.tenant in (None, event.tenant)
            and webhook.owner in (None, event.owner)
            and webhook.schedule_id in (None, event.schedule_id)
            and webhook.job in (None, event.job)
            and (webhook.tag is None or (facts is not None and webhook.tag in facts.tags))
        )

    def _tell(self, webhook: Webhook, name: str, event: Event) -> None:
        run = notification(
            self._clock.now(),
            Happening(
                event=name,
                tenant=event.tenant,
                owner=event.owner,
                schedule_id=event.schedule_id,
                key=event.schedule_key,
                run_id=event.run_id,
                job=event.job,
                attempt=event.attempt,
                reason=event.reason,
                error=event.error,
                webhook_id=webhook.id,
                webhook_kind=webhook.kind,
                webhook_tenant=webhook.tenant,
                webhook_owner=webhook.owner,
            ),
        )
        self._insert(run)
        if webhook.owner is not None:
            self.owners[run.id] = webhook.owner

    def _webhook_rows(self) -> dict[str, Iterable[Sequence[Any]]]:
        def ms(at: Any) -> int | None:
            return None if at is None else round(at.timestamp() * 1000)

        def text(value: Any) -> str:
            return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

        return {
            "webhooks": [
                (
                    w.id, w.tenant, w.owner, w.url, w.kind.value, text(w.events), w.schedule_id, w.tag, w.job,
                    w.description, text([(s.text, s.until) for s in w.secrets]), w.enabled, w.disabled_reason,
                    ms(w.failing_since), w.revision, ms(w.created_at), w.created_by, ms(w.updated_at),
                )
                for w in self.webhooks.values()
            ],
            "interests": [
                (event, w.subject, w.id) for w in self.webhooks.values() if w.enabled for event in w.events
            ],
            "overdue": self.owed.items(),
        }  # fmt: skip
