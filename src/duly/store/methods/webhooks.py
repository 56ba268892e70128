"""Webhooks: kept with their secrets, and found by what they want to hear of.

Which events are wanted at all is kept in the one row that every process looks at from time to time. It is written under
that row's lock, so that two who change webhooks at once leave what is true of both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec

from duly.core.errors import Conflict
from duly.core.instants import to_datetime, to_ms
from duly.core.sealed import readable
from duly.core.webhook import EVENTS, Secret, Webhook, WebhookKind
from duly.store.codec import decode_words, encode_words
from duly.store.narrowing import made, owned
from duly.store.statements import Program, Row, batch, columns, query
from duly.store.values import Page

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[tuple[str, int | None]]).decode


def put_webhook(now: int, new: Webhook) -> Program[Webhook]:
    """Keep a webhook; see ``Webhooks.put_webhook``."""
    yield query("lock_watch")
    at = to_datetime(now)
    row = _row(replace(new, created_at=at, updated_at=at))
    yield made("insert_webhook", **row)
    found: Webhook | None = yield from find_webhook(now, new.id)
    if found is None:  # it is there, and belongs to somebody else
        raise Conflict(f"webhook id {new.id} is in use; choose another", id=new.id)
    yield from _write_interests(found)
    return found


def change_webhook(now: int, id: str, change: Callable[[Webhook, int], Webhook]) -> Program[Webhook | None]:
    """Change a webhook; see ``Webhooks.change_webhook``."""
    rows = yield owned("lock_webhook", id=id)
    if not rows:
        return None
    yield query("lock_watch")
    before = read_webhook(rows[0])
    after = change(before, now)
    if after == before:
        return before
    after = replace(after, revision=before.revision + 1, updated_at=to_datetime(now))
    row = _row(after)
    yield query(
        "update_webhook",
        **{name: row[name] for name in row if name not in ("tenant", "owner", "created_at", "created_by")},
    )
    yield from _write_interests(after)
    return after


def delete_webhook(now: int, id: str) -> Program[bool]:
    """Forget a webhook; see ``Webhooks.delete_webhook``."""
    if not (yield owned("lock_webhook", id=id)):
        return False
    yield query("lock_watch")
    yield query("drop_interests", id=id)
    yield query("delete_webhook", id=id)
    yield from _write_wanted()
    return True


def find_webhook(now: int, id: str) -> Program[Webhook | None]:
    rows = yield owned("find_webhook", id=id)
    return read_webhook(rows[0]) if rows else None


def list_webhooks(now: int, limit: int, after: str | None, tenant: str | None) -> Program[Page[Webhook]]:
    """One page; see ``Webhooks.list_webhooks``."""
    rows = yield owned("list_webhooks", after=after, limit=limit + 1, tenant=tenant)
    found = [read_webhook(row) for row in rows[:limit]]
    return Page(found, found[-1].id if len(rows) > limit else None)


def tell_overdue(now: int, late_ms: int, limit: int) -> Program[int]:
    """Tell of what is owed, and of what is no more; see ``Webhooks.tell_overdue``. The tap does the telling."""
    before = now - late_ms
    yield query("drop_overdue", before=before)
    yield query("insert_overdue", before=before, limit=limit)
    rows = yield query("count_overdue")
    return int(rows[0][0])


def read_webhook(row: Row) -> Webhook:
    """Build a webhook from its columns."""
    id, tenant, owner, url, kind, events, schedule_id, tag, job, description, secrets, enabled, *rest = row
    disabled_reason, failing_since, revision, created_at, created_by, updated_at = rest
    return Webhook(
        id=id,
        tenant=tenant,
        owner=owner,
        url=url,
        kind=WebhookKind(kind),
        events=decode_words(events),
        schedule_id=schedule_id,
        tag=tag,
        job=job,
        description=description,
        secrets=tuple(Secret(text, until) for text, until in _decode(readable(secrets))),
        enabled=bool(enabled),
        disabled_reason=disabled_reason,
        failing_since=to_datetime(failing_since),
        revision=revision,
        created_at=to_datetime(created_at),
        created_by=created_by,
        updated_at=to_datetime(updated_at),
    )


def _row(webhook: Webhook) -> dict[str, Any]:
    def ms(name: str) -> int | None:
        at = getattr(webhook, name)
        return None if at is None else to_ms(at, name)

    return {
        "id": webhook.id,
        "tenant": webhook.tenant,
        "owner": webhook.owner,
        "url": webhook.url,
        "kind": webhook.kind.value,
        "events": encode_words(webhook.events),
        "schedule_id": webhook.schedule_id,
        "tag": webhook.tag,
        "job": webhook.job,
        "description": webhook.description,
        "secrets": _encode([(secret.text, secret.until) for secret in webhook.secrets]).decode(),
        "enabled": webhook.enabled,
        "disabled_reason": webhook.disabled_reason,
        "failing_since": ms("failing_since"),
        "revision": webhook.revision,
        "created_at": ms("created_at"),
        "created_by": webhook.created_by,
        "updated_at": ms("updated_at"),
    }


def _write_interests(webhook: Webhook) -> Program[None]:
    """What it wants to hear of; one that is not enabled, nothing."""
    yield query("drop_interests", id=webhook.id)
    if webhook.enabled:
        rows = [(event, webhook.subject, webhook.id) for event in webhook.events]
        yield batch("insert_interests", columns(("event", "subject", "webhook_id"), rows))
    yield from _write_wanted()


def _write_wanted() -> Program[None]:
    rows = yield query("wanted_events", events=list(EVENTS))
    yield query("write_wanted", wanted=encode_words(tuple(sorted(row[0] for row in rows))))
