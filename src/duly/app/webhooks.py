"""``app.webhooks``: who is told of what happens, at a URL of theirs. A secret is shown once, when it is made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from duly.config import Settings
from duly.core.addresses import read_allowed
from duly.core.endpoint import read_endpoint
from duly.core.errors import QuotaExceeded, ValidationFailed, WebhookNotFound
from duly.core.policy import choose
from duly.core.run import Run
from duly.core.signing import SECRET_BYTES, check_secret, write_secret
from duly.core.webhook import (
    HEARTBEAT_EVENTS,
    JOB,
    MAX_ATTEMPTS,
    QUEUE,
    TEST,
    TIMEOUT_MS,
    Happening,
    Secret,
    Webhook,
    WebhookKind,
    check_events,
    payload_of,
)
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.store.sql import SqlStore
from duly.store.values import NewRequest, Page

from .checking import check_cursor, check_id, check_limit, check_prose, check_text, check_truth, may_be_id
from .filtering import check_filters, naming
from .owning import ANYBODYS, Owning
from .paging import walked
from .words import UNSET

MOST = 1000
"""How many webhooks one owner may have; each event of theirs is told to each of them."""

BOTH_FOR = timedelta(days=1)
"""How long messages are signed with the old secret too after a rotation."""

MOST_SECRETS = 3


@dataclass(frozen=True, slots=True)
class MadeWebhook:
    """A webhook and a new secret of it. ``secret`` is shown now or never. Its attributes can be read here too."""

    webhook: Webhook
    secret: str

    def __getattr__(self, name: str) -> Any:
        return getattr(self.webhook, name)

    def __repr__(self) -> str:
        return f"MadeWebhook({self.webhook!r})"


class Webhooks:
    """Make, change and end webhooks. What happens is told within moments of it, at least once, and signed."""

    def __init__(
        self,
        store: SqlStore,
        settings: Settings,
        clock: Clock,
        chance: Chance,
        *,
        on_runs: Callable[[], None],
        owning: Owning = ANYBODYS,
    ) -> None:
        self._store = store
        self._allowed = read_allowed(settings.webhook_allow)
        self._clock = clock
        self._chance = chance
        self._on_runs = on_runs
        self._owning = owning

    async def create(
        self,
        url: str,
        *,
        events: Iterable[str] | None = None,
        kind: str = WebhookKind.EVENTS,
        schedule: str | None = None,
        tag: str | None = None,
        job: str | None = None,
        description: str | None = None,
        secret: str | None = None,
        owner: str | None = None,
        tenant: str | None = None,
        enabled: bool = True,
        id: str | None = None,
        by: str | None = None,
    ) -> MadeWebhook:
        """Tell a URL of ``events``; with ``schedule``, ``tag`` or ``job`` only of those of that.

        A ``heartbeat`` is POSTed to for every run that completes, and at ``/fail`` below it for one that fails, so that
        another service can say when it hears nothing more. ``owner`` and ``tenant`` say whose it is: it hears of what
        is theirs, and without them of everything.
        """
        shape = choose(WebhookKind, kind, "kind")
        facts = {"owner": owner, "tenant": tenant}
        self._owning.claim(facts)
        await self._check_count()
        text = write_secret(self._chance.entropy(SECRET_BYTES)) if secret is None else check_secret(secret)
        new = Webhook(
            id=self._chance.id(self._clock) if id is None else check_id(id),
            url=self._check_url(url),
            kind=shape,
            events=_events(shape, events),
            tenant=_check_tenant(facts["tenant"], facts["owner"]),
            owner=check_text(facts["owner"], "owner", 128) or None,
            schedule_id=None if schedule is None else await self._schedule_id(schedule),
            tag=check_text(tag, "tag", 50) or None,
            job=check_text(job, "job", 100) or None,
            description=check_prose(description, "description", 1000),
            secrets=(Secret(text),),
            enabled=check_truth(enabled, "enabled"),
            created_by=check_text(by, "by", 100),
        )
        return MadeWebhook(await self._store.put_webhook(new), text)

    async def get(self, id: str) -> Webhook | None:
        """The webhook, or None."""
        return await self._store.get_webhook(id) if may_be_id(id, "a webhook") else None

    @naming("webhooks.list")
    async def list(self, *, tenant: str | None = None, limit: int = 50, cursor: str | None = None) -> Page[Webhook]:
        """One page, oldest first."""
        check_filters(tenant=tenant)
        return await self._store.list_webhooks(limit=check_limit(limit), after=check_cursor(cursor), tenant=tenant)

    @naming("webhooks.iterate")
    async def iterate(
        self, *, tenant: str | None = None, limit: int = 200, cursor: str | None = None
    ) -> AsyncIterator[Webhook]:
        """All pages, one webhook after another."""
        async for webhook in walked(self.list, tenant=tenant, limit=limit, cursor=cursor):
            yield webhook

    async def update(
        self,
        id: str,
        *,
        url: str = UNSET,
        events: Iterable[str] = UNSET,
        tag: str | None = UNSET,
        job: str | None = UNSET,
        description: str | None = UNSET,
        enabled: bool = UNSET,
    ) -> Webhook:
        """Change what is given. One that was disabled because nobody was there is told again once it is enabled."""
        words: dict[str, Any] = {}
        if url is not UNSET:
            words["url"] = self._check_url(url)
        if events is not UNSET:
            words["events"] = check_events([*events] if isinstance(events, list | tuple | set) else events)
        if tag is not UNSET:
            words["tag"] = check_text(tag, "tag", 50) or None
        if job is not UNSET:
            words["job"] = check_text(job, "job", 100) or None
        if description is not UNSET:
            words["description"] = check_prose(description, "description", 1000)
        if enabled is not UNSET:
            words |= {"enabled": check_truth(enabled, "enabled"), "disabled_reason": None, "failing_since": None}

        def change(webhook: Webhook, now: int) -> Webhook:
            if webhook.kind is WebhookKind.HEARTBEAT and "events" in words:
                raise _heartbeat_events()
            return replace(webhook, **words)

        return await self._change(id, change)

    async def rotate(self, id: str, *, keep: timedelta = BOTH_FOR, secret: str | None = None) -> MadeWebhook:
        """Make another secret; for a while messages are signed with both, so that receivers can follow."""
        if not isinstance(keep, timedelta) or not timedelta(0) <= keep <= timedelta(days=366):
            raise ValidationFailed(f"keep is {keep!r}; expected a timedelta up to a year", field="keep")
        text = write_secret(self._chance.entropy(SECRET_BYTES)) if secret is None else check_secret(secret)
        keep_ms = round(keep.total_seconds() * 1000)

        def change(webhook: Webhook, now: int) -> Webhook:
            until = now + keep_ms
            kept = [
                replace(one, until=until if one.until is None else min(one.until, until)) for one in webhook.secrets
            ]
            good = [one for one in kept if one.until is not None and one.until > now]
            return replace(webhook, secrets=(Secret(text), *good[: MOST_SECRETS - 1]))

        return MadeWebhook(await self._change(id, change), text)

    async def delete(self, id: str) -> None:
        """End a webhook. Twice is fine. What was to be told already is not sent any more."""
        if may_be_id(id, "a webhook"):
            await self._store.delete_webhook(id)

    async def test(self, id: str) -> Run:
        """Send a message ``webhook.test`` as any other; the answer is the run that sends it."""
        webhook = await self.get(id)
        if webhook is None:
            raise WebhookNotFound.named(id)
        request = NewRequest(
            id=self._chance.id(self._clock),
            job=JOB,
            payload=payload_of(self._clock.now(), _test_of(webhook)),
            queue=QUEUE,
            max_attempts=MAX_ATTEMPTS["test"],
            tenant=webhook.tenant or "",
            owner=webhook.owner,
            timeout_ms=TIMEOUT_MS,
        )
        (run,) = await self._store.enqueue([request])
        self._on_runs()
        return run

    async def _change(self, id: str, change: Callable[[Webhook, int], Webhook]) -> Webhook:
        changed = await self._store.change_webhook(id, change) if may_be_id(id, "a webhook") else None
        if changed is None:
            raise WebhookNotFound.named(id)
        return changed

    def _check_url(self, url: str) -> str:
        read_endpoint(url, self._allowed)
        return url

    async def _schedule_id(self, ref: str) -> str:
        schedule = await self._store.get_schedule(check_text(ref, "schedule", 200) or "")
        if schedule is None:
            raise ValidationFailed(
                f"schedule is {ref[:60]!r}, and there is none with that id or key; create it first",
                field="schedule",
                got=ref,
                expected="the id or key of a schedule",
            )
        return schedule.id

    async def _check_count(self) -> None:
        if self._owning.owner is None:
            return
        page = await self._store.list_webhooks(limit=MOST)
        if len(page.items) >= MOST:
            raise QuotaExceeded(f"there are {MOST} webhooks of {self._owning.owner!r}, which is the most; delete some")


def _events(kind: WebhookKind, events: Iterable[str] | None) -> tuple[str, ...]:
    if kind is WebhookKind.HEARTBEAT:
        if events is not None:
            raise _heartbeat_events()
        return HEARTBEAT_EVENTS
    return check_events([] if events is None else [*events] if isinstance(events, list | tuple | set) else events)


def _heartbeat_events() -> ValidationFailed:
    return ValidationFailed(
        f"events is given for a heartbeat, which is told of {' and '.join(HEARTBEAT_EVENTS)}; leave it out",
        field="events",
    )


def _check_tenant(tenant: str | None, owner: str | None) -> str | None:
    tenant = check_text(tenant, "tenant", 128)
    return "" if tenant is None and owner else tenant


def _test_of(webhook: Webhook) -> Happening:
    return Happening(
        event=TEST,
        tenant=webhook.tenant,
        owner=webhook.owner,
        schedule_id=webhook.schedule_id,
        key=None,
        run_id=None,
        job=webhook.job,
        attempt=None,
        reason=None,
        error=None,
        webhook_id=webhook.id,
        webhook_kind=webhook.kind,
        webhook_tenant=webhook.tenant,
        webhook_owner=webhook.owner,
    )
