"""What can be asked about webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, cast

from msgspec import UNSET

from duly.api import queries
from duly.api.answers import at, run_answer
from duly.api.bodies_webhooks import RotateSecretBody, WebhookBody, WebhookPatch
from duly.api.findings import telling
from duly.api.queries import read_query
from duly.api.reading import read
from duly.api.shapes import RunAnswer
from duly.api.shapes_webhooks import MadeWebhookAnswer, WebhookAnswer, WebhookPage
from duly.app import Duly
from duly.app.webhooks import MadeWebhook
from duly.core.errors import WebhookNotFound
from duly.core.webhook import Webhook

_CREATED = ("events", "kind", "schedule", "tag", "description", "secret", "enabled", "owner", "tenant")
_CHANGED = ("url", "events", "tag", "description", "enabled")


async def create_webhook(app: Duly, body: object, *, by: str | None = None) -> MadeWebhookAnswer:
    """Make a webhook; the answer is the only one that shows its secret."""
    given = read(WebhookBody, body)
    words = {name: value for name in _CREATED if (value := getattr(given, name)) not in (UNSET, None)}
    if given.job_type not in (UNSET, None):
        words["job"] = given.job_type
    with telling():
        return _made(await app.webhooks.create(given.url, by=by, **words))


async def check_webhook(body: object) -> None:
    """Raise what a create would, as far as that can be told without the store."""
    read(WebhookBody, body)


async def list_webhooks(app: Duly, query: Mapping[str, str]) -> WebhookPage:
    """One page, oldest first."""
    page = await app.webhooks.list(**read_query(query, queries.WEBHOOKS))
    return {"items": [webhook_answer(one) for one in page.items], "nextCursor": page.next_cursor}


async def get_webhook(app: Duly, id: str) -> WebhookAnswer:
    """One webhook, without its secrets."""
    found = await app.webhooks.get(id)
    if found is None:
        raise WebhookNotFound.named(id)
    return webhook_answer(found)


async def update_webhook(app: Duly, id: str, body: object) -> WebhookAnswer:
    """Change what the body names."""
    given = read(WebhookPatch, body)
    words: dict[str, Any] = {name: value for name in _CHANGED if (value := getattr(given, name)) is not UNSET}
    if given.job_type is not UNSET:
        words["job"] = given.job_type
    with telling():
        return webhook_answer(await app.webhooks.update(id, **words))


async def rotate_secret(app: Duly, id: str, body: object = None) -> MadeWebhookAnswer:
    """Make another secret; for a while messages are signed with both."""
    given = read(RotateSecretBody, {} if body is None else body)
    secret = given.secret or None
    with telling():
        return _made(await app.webhooks.rotate(id, keep=timedelta(seconds=given.keep_seconds), secret=secret))


async def delete_webhook(app: Duly, id: str) -> None:
    """End a webhook. Twice is fine."""
    await app.webhooks.delete(id)


async def test_webhook(app: Duly, id: str) -> RunAnswer:
    """Send it a message that says that it is a test; the answer is the run that sends it."""
    return run_answer(await app.webhooks.test(id))


def webhook_answer(webhook: Webhook) -> WebhookAnswer:
    """The webhook as it is shown: that it has secrets, and not which."""
    return {
        "id": webhook.id,
        "url": webhook.url,
        "kind": webhook.kind.value,
        "events": cast("Any", list(webhook.events)),
        "scheduleId": webhook.schedule_id,
        "tag": webhook.tag,
        "jobType": webhook.job,
        "description": webhook.description,
        "owner": webhook.owner,
        "tenant": webhook.tenant or None,
        "enabled": webhook.enabled,
        "disabledReason": webhook.disabled_reason,
        "failingSince": None if webhook.failing_since is None else at(webhook.failing_since),
        "secrets": len(webhook.secrets),
        "createdAt": _at(webhook.created_at),
        "createdBy": webhook.created_by,
        "updatedAt": _at(webhook.updated_at),
    }


def _at(instant: datetime | None) -> str:
    assert instant is not None, "what is stored was made at some time"
    return at(instant)


def _made(made: MadeWebhook) -> MadeWebhookAnswer:
    return {**webhook_answer(made.webhook), "secret": made.secret}
