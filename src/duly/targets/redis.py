"""Redis and Valkey: ``redis://host:6379/0?stream=NAME`` appends to a stream, ``?list=NAME`` pushes onto a list.

An entry of a stream has the fields ``id``, ``type`` and ``data`` (the body's text), and ``fence`` where an answer is
expected; an element of a list is the body itself. ``maxlen=N`` trims a stream to about N entries. A batch is one round
trip. What Redis has confirmed is as durable as its own settings: say ``appendfsync always`` for no loss.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, RedisError, ResponseError, TimeoutError

from duly.config.masking import mask_url
from duly.core.errors import ConfigurationError

from .target import Confirmed, Message, Refused, TryAgain, Verdict

ANSWER_WITHIN = 5.0
"""Seconds; a server that does not answer by then is away."""

OURS = frozenset({"stream", "list", "maxlen"})
_FOR_LATER = ("MISCONF", "NOREPLICAS", "CLUSTERDOWN", "MASTERDOWN", "BUSY", "NOAUTH", "NOPERM", "WRONGPASS")
"""How answers begin that have no class of their own, of a server that may take the same message later."""


class RedisTarget:
    """A ``Target`` on a stream or a list."""

    def __init__(self, name: str, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme == "valkey":  # which speaks the same, and whose client does not know the word
            parts = parts._replace(scheme="redis")
        given = dict(parse_qsl(parts.query, keep_blank_values=True))
        ours = {word: given.pop(word) for word in OURS & given.keys()}
        self._name = name
        self._list = ours.get("list")
        self._stream = ours.get("stream", name)
        self._maxlen = _count(name, ours.get("maxlen"))
        self._url = urlunsplit(parts._replace(query="&".join(f"{word}={value}" for word, value in given.items())))
        if {"stream", "list"} <= ours.keys() or not all(ours.get(word, "x") for word in ("stream", "list")):
            raise ConfigurationError(
                f"target {name!r}: url is {mask_url(url)!r}; expected one of ?stream=NAME and ?list=NAME"
            )
        if self._list is not None and self._maxlen is not None:
            raise ConfigurationError(f"target {name!r}: maxlen is for a stream; leave it out for a list")
        self._redis: Any = None

    async def open(self) -> None:
        self._connect()

    async def send(self, messages: Sequence[Message]) -> Sequence[Verdict]:
        if not messages:
            return []
        redis = self._redis or self._connect()
        pipeline = redis.pipeline(transaction=False)
        for message in messages:
            self._put(pipeline, message)
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                answers = await pipeline.execute(raise_on_error=False)
        except (ConnectionError, TimeoutError, OSError) as error:  # of redis, and of the standard library
            return [TryAgain(_told(error), away=True)] * len(messages)
        except RedisError as error:
            return [TryAgain(_told(error))] * len(messages)
        return [_verdict(answer) for answer in answers]

    async def close(self) -> None:
        redis, self._redis = self._redis, None
        if redis is not None:
            await redis.aclose()

    def _connect(self) -> Any:
        if self._redis is None:
            limits: dict[str, Any] = {"socket_timeout": ANSWER_WITHIN, "socket_connect_timeout": ANSWER_WITHIN}
            try:
                redis: Any = Redis.from_url(self._url, retry=Retry(NoBackoff(), 0), **limits)
                redis.connection_pool.make_connection()  # connects nothing, and refuses words that it does not know
            except (ValueError, TypeError) as error:
                raise ConfigurationError(
                    f"target {self._name!r}: url is {mask_url(self._url)!r}, which Redis does not understand: {error}"
                ) from None
            self._redis = redis
        return self._redis

    def _put(self, pipeline: Any, message: Message) -> None:
        if self._list is not None:
            pipeline.rpush(self._list, message.body)
            return
        fields: dict[str, str | bytes | int] = {"id": message.id, "type": message.type, "data": message.body}
        if message.expects_answer:
            fields["fence"] = message.fence
        pipeline.xadd(self._stream, fields, maxlen=self._maxlen, approximate=True)


def _verdict(answer: object) -> Verdict:
    if not isinstance(answer, Exception):
        return Confirmed()
    if isinstance(answer, ConnectionError | TimeoutError | OSError):
        return TryAgain(_told(answer), away=True)
    # Its own classes are of states that pass or that an operator mends: no room, no rights, a replica.
    if type(answer) is ResponseError and not str(answer).startswith(_FOR_LATER):
        return Refused(str(answer))
    return TryAgain(_told(answer))


def _told(error: BaseException) -> str:
    return mask_url(str(error)) or f"no answer within {ANSWER_WITHIN:g} s"


def _count(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ConfigurationError(f"target {name!r}: maxlen is {text!r}; expected a whole number, 1 or more")
    return int(text)
