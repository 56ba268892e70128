"""``/keys``: who may call. Only an admin asks here; a key itself is shown once, when it is made."""

from __future__ import annotations

from duly.app import Duly
from duly.core.credential import Scope

from .bodies_keys import KeyBody, RotateBody
from .http import Call
from .operations import keys
from .replies import Reply
from .route import Route
from .shapes_keys import KeyAnswer, KeyPage, MadeKeyAnswer


async def _create(app: Duly, call: Call) -> Reply:
    made = await keys.create_key(app, call.body, by=call.by)
    return Reply(made, 201, location=f"/keys/{made['id']}")


async def _list(app: Duly, call: Call) -> Reply:
    return Reply(await keys.list_keys(app))


async def _get(app: Duly, call: Call) -> Reply:
    return Reply(await keys.get_key(app, call.ref))


async def _rotate(app: Duly, call: Call) -> Reply:
    made = await keys.rotate_key(app, call.ref, call.body, by=call.by)
    return Reply(made, 201, location=f"/keys/{made['id']}")


async def _revoke(app: Duly, call: Call) -> Reply:
    await keys.revoke_key(app, call.ref)
    return Reply(status=204)


KEYS: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/keys",
        name="createKey",
        summary="Make an API key; the answer is the only one that shows it",
        said="As soon as there is a key, the API asks everybody for one, for ever. The first is created on the machine"
        " of the server only.",
        run=_create,
        local_first=True,
        scope=Scope.ADMIN,
        body=KeyBody,
        answer=MadeKeyAnswer,
        status=201,
    ),
    Route(
        method="GET",
        path="/keys",
        name="listKeys",
        summary="List API keys, oldest first, also those that are not good any more",
        run=_list,
        scope=Scope.ADMIN,
        answer=KeyPage,
    ),
    Route(
        method="GET",
        path="/keys/{ref}",
        name="getKey",
        summary="Look at an API key",
        run=_get,
        scope=Scope.ADMIN,
        answer=KeyAnswer,
    ),
    Route(
        method="POST",
        path="/keys/{ref}/rotate",
        name="rotateKey",
        summary="Make another key with the same rights; the old one goes on for a while",
        run=_rotate,
        scope=Scope.ADMIN,
        body=RotateBody,
        body_needed=False,
        answer=MadeKeyAnswer,
        status=201,
        codes=("CONFLICT",),
    ),
    Route(
        method="DELETE",
        path="/keys/{ref}",
        name="revokeKey",
        summary="Revoke an API key at once; twice is fine",
        run=_revoke,
        scope=Scope.ADMIN,
        status=204,
    ),
)
