"""One call from the first try to its answer, without sending anything: both clients drive it.

A call is tried again only where that is safe: the request never reached the server; or the server said that nothing
was done; or the call is repeatable, and then it does not matter whether it was done.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from urllib.parse import urlsplit

from duly.core.errors import ConfigurationError, StoreUnavailable

from .calls import Answer, Call, Failure, Pause, Reply
from .problems import problem_code, read_reply

TRIES = 3
UNDER_WAY = "IDEMPOTENCY_KEY_IN_USE"
FIRST_WAIT = 0.2
LONGEST_WAIT = 30.0
"""A server that asks for more patience than this, in seconds, is not waited for."""

Talk = Generator[Call | Pause, Reply | Failure | None, Answer]


def keyed(call: Call, key: str) -> Call:
    """Give a request that must not be done twice a name of its own: asked again, the server answers as it did."""
    if call.method != "POST" or call.repeatable:
        return call
    return replace(call, headers={**call.headers, "Idempotency-Key": key}, repeatable=True)


def talk(call: Call, place: str, tries: int = TRIES, *, is_over: Callable[[], bool] = lambda: False) -> Talk:
    """Yield what to do next, be sent what came of it; return the answer or raise. Once ``is_over`` no try follows."""
    for attempt in range(1, tries + 1):
        reply = yield call
        assert reply is not None
        wait = None if attempt == tries or is_over() else wait_before_next(call, reply, attempt)
        if wait is None:
            return read_reply(call, reply, place)
        yield Pause(wait)
    raise AssertionError("the last try answers or raises")


def wait_before_next(call: Call, reply: Reply | Failure, attempt: int) -> float | None:
    """Seconds until another try, or None if this was the answer."""
    wait: float = FIRST_WAIT * 2 ** (attempt - 1)
    if isinstance(reply, Failure):
        return wait if call.repeatable or not reply.sent else None
    if reply.status == 409 and problem_code(reply) == UNDER_WAY and "Idempotency-Key" in call.headers:
        return wait  # our own first try, whose answer got lost
    if reply.status == 429 or (reply.status == 503 and (call.repeatable or _nothing_was_done(reply))):
        asked = reply.headers.get("retry-after", "")
        wait = max(wait, float(asked)) if asked.isdecimal() else wait
        return wait if wait <= LONGEST_WAIT else None
    return None


def _nothing_was_done(reply: Reply) -> bool:
    return problem_code(reply) == StoreUnavailable.code


def read_server(url: str) -> tuple[str, str]:
    """The root of a server's URL, and the place in words, without user and password."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        shown = url if "@" not in url else "not such a URL"
        raise ConfigurationError(f"server URL is {shown!r}; expected one such as http://127.0.0.1:8080")
    path = parts.path.rstrip("/").removesuffix("/api/v1").rstrip("/")
    place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}"
    return f"{parts.scheme}://{parts.netloc}{path}", place
