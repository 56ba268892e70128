"""What can be asked about queues. Any name is a queue; one that nobody set up has no limits."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from duly.api.answers import queue_answer
from duly.api.bodies import NoBody, QueueBody, QueuePauseBody
from duly.api.findings import telling
from duly.api.reading import read
from duly.api.shapes import QueueAnswer, QueuePage
from duly.app import Duly

_PLACES = {"rate": "/rateLimit/limit", "per": "/rateLimit/periodMs"}
_NO_LIMITS: dict[str, Any] = {"max_running": None, "rate": None, "fair": False, "newest_first": False}


async def list_queues(app: Duly) -> QueuePage:
    """Every queue that was set up or has open runs, by name."""
    return {"items": [queue_answer(queue) for queue in await app.queues.list()], "nextCursor": None}


async def get_queue(app: Duly, name: str) -> QueueAnswer:
    """One queue and what is in it."""
    return queue_answer(await app.queues.get(name))


async def put_queue(app: Duly, name: str, body: object) -> QueueAnswer:
    """Limit the queue exactly as the body says; a pause stays."""
    return await _set(app, name, _NO_LIMITS | _words(read(QueueBody, body)))


async def patch_queue(app: Duly, name: str, body: object) -> QueueAnswer:
    """Change what the body says and leave the rest."""
    return await _set(app, name, _words(read(QueueBody, body)))


async def pause_queue(app: Duly, name: str, body: object = None, *, by: str | None = None) -> QueueAnswer:
    """Let nothing of the queue start until it is resumed."""
    reason = read(QueuePauseBody, {} if body is None else body).reason
    with telling():
        return queue_answer(await app.queues.pause(name, reason if isinstance(reason, str) else None, by=by))


async def resume_queue(app: Duly, name: str, body: object = None) -> QueueAnswer:
    """Let the runs of the queue start again."""
    read(NoBody, {} if body is None else body)
    return queue_answer(await app.queues.resume(name))


async def _set(app: Duly, name: str, words: dict[str, Any]) -> QueueAnswer:
    with telling(**_PLACES):
        return queue_answer(await app.queues.set(name, **words))


def _words(body: QueueBody) -> dict[str, Any]:
    """The body in the words of ``app.queues.set``."""
    given = {"max_running": body.max_running, "fair": body.fair, "newest_first": body.newest_first}
    words: dict[str, Any] = {name: value for name, value in given.items() if value is not UNSET}
    if body.rate_limit is None:
        words["rate"] = None
    elif body.rate_limit is not UNSET:
        words |= {"rate": body.rate_limit.limit, "per": body.rate_limit.period_ms / 1000}
    return words
