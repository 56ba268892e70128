"""``/webhooks``: who is told of what happens. A secret is shown once, when it is made."""

from __future__ import annotations

from duly.app import Duly
from duly.core.credential import Scope

from . import queries
from .bodies_webhooks import RotateSecretBody, WebhookBody, WebhookPatch
from .http import Call
from .operations import webhooks
from .replies import Reply
from .route import Route
from .shapes import RunAnswer
from .shapes_webhooks import MadeWebhookAnswer, WebhookAnswer, WebhookPage


async def _create(app: Duly, call: Call) -> Reply:
    made = await webhooks.create_webhook(app, call.body, by=call.by)
    return Reply(made, 201, location=f"/webhooks/{made['id']}")


async def _list(app: Duly, call: Call) -> Reply:
    return Reply(await webhooks.list_webhooks(app, call.query))


async def _get(app: Duly, call: Call) -> Reply:
    return Reply(await webhooks.get_webhook(app, call.ref))


async def _update(app: Duly, call: Call) -> Reply:
    return Reply(await webhooks.update_webhook(app, call.ref, call.body))


async def _delete(app: Duly, call: Call) -> Reply:
    await webhooks.delete_webhook(app, call.ref)
    return Reply(status=204)


async def _rotate(app: Duly, call: Call) -> Reply:
    return Reply(await webhooks.rotate_secret(app, call.ref, call.body))


async def _test(app: Duly, call: Call) -> Reply:
    run = await webhooks.test_webhook(app, call.ref)
    return Reply(run, 202, location=f"/runs/{run['id']}")


WEBHOOKS: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/webhooks",
        name="createWebhook",
        summary="Tell a URL of what happens; the answer is the only one that shows the secret",
        said="It hears of what belongs to whoever makes it; one that an admin makes for nobody hears of everything.",
        run=_create,
        scope=Scope.WRITE,
        body=WebhookBody,
        answer=MadeWebhookAnswer,
        status=201,
        codes=("DESTINATION_NOT_ALLOWED",),
        once=False,
    ),
    Route(
        method="GET",
        path="/webhooks",
        name="listWebhooks",
        summary="List webhooks, oldest first",
        run=_list,
        scope=Scope.READ,
        query=queries.WEBHOOKS,
        answer=WebhookPage,
    ),
    Route(
        method="GET",
        path="/webhooks/{ref}",
        name="getWebhook",
        summary="Look at a webhook",
        run=_get,
        scope=Scope.READ,
        answer=WebhookAnswer,
    ),
    Route(
        method="PATCH",
        path="/webhooks/{ref}",
        name="updateWebhook",
        summary="Change a webhook, or enable one that was disabled",
        run=_update,
        scope=Scope.WRITE,
        body=WebhookPatch,
        answer=WebhookAnswer,
        codes=("DESTINATION_NOT_ALLOWED",),
    ),
    Route(
        method="DELETE",
        path="/webhooks/{ref}",
        name="deleteWebhook",
        summary="End a webhook; twice is fine",
        run=_delete,
        scope=Scope.WRITE,
        status=204,
    ),
    Route(
        method="POST",
        path="/webhooks/{ref}/rotate",
        name="rotateWebhookSecret",
        summary="Make another secret; for a while messages are signed with both",
        run=_rotate,
        scope=Scope.WRITE,
        body=RotateSecretBody,
        body_needed=False,
        answer=MadeWebhookAnswer,
        once=False,
    ),
    Route(
        method="POST",
        path="/webhooks/{ref}/test",
        name="testWebhook",
        summary="Send it a test message; the answer is the run that sends it",
        run=_test,
        scope=Scope.TRIGGER,
        answer=RunAnswer,
        status=202,
    ),
)
