"""Redis and Valkey: ``redis://host:6379/0?stream=NAME`` appends to a stream, ``?list=NAME`` pushes onto a list.

An entry of a stream has the fields ``id``, ``type`` and ``data`` (the body's text), and ``fence`` where an answer is
expected; an element of a list is the body itself. ``maxlen=N`` trims a stream to about N entries. A batch is one round
trip. What Redis has confirmed is as durable as its own settings: say ``appendfsync always`` for no loss.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, RedisError, ResponseError, TimeoutError

from duly.config.masking import mask_url
from duly.core.errors import ConfigurationError

from .address import TLS_WORDS, read_address
from .target import Confirmed, Message, Refused, TryAgain, Verdict

ANSWER_WITHIN = 5.0
"""Seconds; a server that does not answer by then is away."""

WORDS = frozenset({"stream", "list", "maxlen"})
DRIVER_WORDS = frozenset({"protocol", "client_name", "health_check_interval", "ssl_check_hostname"})
_FILES = {"cafile": "ssl_ca_certs", "certfile": "ssl_certfile", "keyfile": "ssl_keyfile"}
_FOR_LATER = ("MISCONF", "NOREPLICAS", "CLUSTERDOWN", "MASTERDOWN", "BUSY", "NOAUTH", "NOPERM", "WRONGPASS")
"""How answers begin that have no class of their own, of a server that may take the same message later."""


class RedisTarget:
    """A ``Target`` on a stream or a list."""

    def __init__(self, name: str, url: str) -> None:
        # Valkey speaks the same, and the client does not know its name.
        url = "redis" + url.removeprefix("valkey") if url.startswith("valkey://") else url
        self._address = address = read_address(name, url, WORDS | TLS_WORDS, DRIVER_WORDS)
        self._list = address.words.get("list")
        self._stream = address.words.get("stream", name)
        self._maxlen = address.count("maxlen")
        if {"stream", "list"} <= address.words.keys() or not all(
            address.words.get(word, "x") for word in ("stream", "list")
        ):
            raise ConfigurationError(
                f"target {name!r}: url is {mask_url(url)!r}; expected one of ?stream=NAME and ?list=NAME"
            )
        if self._list is not None and self._maxlen is not None:
            raise ConfigurationError(f"target {name!r}: maxlen is for a stream; leave it out for a list")
        address.trust("rediss")  # what is wrong with its files shows here
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
            return [TryAgain(self._address.tell(error), away=True)] * len(messages)
        except RedisError as error:
            return [TryAgain(self._address.tell(error))] * len(messages)
        return [self._verdict(answer) for answer in answers]

    async def close(self) -> None:
        redis, self._redis = self._redis, None
        if redis is not None:
            await redis.aclose()

    def _connect(self) -> Any:
        if self._redis is None:
            # A batch has one time limit: one for each answer would cost as much as reading it.
            options: dict[str, Any] = {"socket_timeout": None, "socket_connect_timeout": ANSWER_WITHIN}
            options |= {_FILES[word]: self._address.words[word] for word in TLS_WORDS & self._address.words.keys()}
            if self._address.server.startswith("rediss:"):
                options["ssl_check_hostname"] = True  # clients before 6 do not by themselves; the URL may say otherwise
            try:
                redis: Any = Redis.from_url(self._address.server, retry=Retry(NoBackoff(), 0), **options)
                redis.connection_pool.make_connection()  # connects nothing, and refuses words that it does not know
            except (ValueError, TypeError) as error:
                raise ConfigurationError(
                    f"target {self._address.name!r}: url is {mask_url(self._address.server)!r}, which Redis does not"
                    f" understand: {error}"
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

    def _verdict(self, answer: object) -> Verdict:
        if not isinstance(answer, Exception):
            return Confirmed()
        if isinstance(answer, ConnectionError | TimeoutError | OSError):
            return TryAgain(self._address.tell(answer), away=True)
        # Its own classes are of states that pass or that an operator mends: no room, no rights, a replica.
        if type(answer) is ResponseError and not str(answer).startswith(_FOR_LATER):
            return Refused(str(answer))
        return TryAgain(self._address.tell(answer))
