"""``/metrics`` for those who may see the whole fleet, where it is not open to everybody."""

from __future__ import annotations

from duly.api.health import Health
from duly.api.http import Receive, Scope, Send, send_bytes, send_problem
from duly.api.problems import problem_of
from duly.api.replies import Refused
from duly.core import credential
from duly.core.errors import DulyError

from .guard import Guard

PATH = "/metrics"


class GuardedMetrics:
    """The answer of ``Health``, for an admin; an ASGI application."""

    def __init__(self, health: Health, guard: Guard) -> None:
        self._answer = health.answers[PATH]
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._guard.caller(scope, credential.Scope.ADMIN)
        except Refused as refused:
            await send_problem(send, scope, refused.problem)
        except DulyError as error:
            await send_problem(send, scope, problem_of(error)[1])
        else:
            accept = next((value for name, value in scope["headers"] if name == b"accept"), b"")
            reply = await self._answer(scope["query_string"].decode("latin-1"), accept.decode("latin-1"))
            await send_bytes(send, reply.status, reply.body, reply.media_type.encode(), [])
