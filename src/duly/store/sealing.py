"""Sealing: what people put into the store is encrypted on its way in, and read again on its way out.

It is done in one place, between the programs and the driver. A program never sees a sealed value, the database never
sees another one, and no method can forget it: which columns are sealed is said here once, by statement. Each value is
sealed for the row that it belongs to (a run, a schedule, a webhook) with a key made of that id, so that a value which
somebody moved to another row is not read there.
"""

from __future__ import annotations

import binascii
import logging
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from duly.core.errors import ConfigurationError, PayloadUnreadable
from duly.core.sealed import MARK, SealKey, parts_of, read_keys, readable
from duly.runtime.chance import Chance

from .driver import Driver
from .statements import Batch, Group, Program, Query, Row, Step, Steps, T, Transaction, query

log = logging.getLogger("duly.store")

NONCE_BYTES = 12
CANARY: Final = "seal:"
"""The names of secrets that say which keys the store's values are sealed with."""


class Written(NamedTuple):
    """What a statement writes: the parameters that are sealed, and the one that says whose they are.

    ``definition`` is one that is sealed only if ``is_confided`` says so.
    """

    whose: str
    sealed: tuple[str, ...]
    definition: str | None = None


WRITTEN: Final[Mapping[str, Written]] = {
    "insert_revisions": Written("schedule_id", ("payload", "body"), definition="body"),
    "insert_changes": Written("schedule_id", ("fields",)),
    "insert_runs": Written("id", ("payload",)),
    "insert_heirs": Written("id", ("payload",)),
    "move_gathered": Written("id", ("payload",)),
    "complete_runs": Written("id", ("result",)),
    "finish_runs": Written("id", ("result",)),
    "insert_attempts": Written("run_id", ("stack",)),
    "put_steps": Written("run_id", ("result", "log")),
    "put_messages": Written("run_id", ("body",)),
    "put_published": Written("run_id", ("value",)),
    "end_request": Written("key", ("answer",)),
    "insert_webhook": Written("id", ("secrets",)),
    "update_webhook": Written("id", ("secrets",)),
    "put_secret": Written("name", ("value",)),
}

READ: Final[Mapping[str, tuple[int, ...]]] = {
    **dict.fromkeys(("claim_chosen", "claim_newest", "claim_ready", "claim_suspects", "session_claims"), (7,)),
    **dict.fromkeys(("lost_runs", "unanswered_runs", "answerable_run"), (7,)),
    **dict.fromkeys(("find_webhook", "lock_webhook", "list_webhooks"), (10,)),
    **dict.fromkeys(("list_schedules", "list_upcoming", "list_upcoming_of"), (33,)),
    "read_revisions": (2, 3),
    "read_schedules": (33, 34),
    "audit_revisions": (3,),
    "read_run": (25, 26),
    **dict.fromkeys(("list_runs", "list_chosen_runs"), (26,)),
    "lock_dead": (13,),
    "child_ends": (3,),
    "lock_gathered": (1,),
    "list_changes": (6,),
    "audit_changes": (3,),
    "read_steps": (7, 9),
    **dict.fromkeys(("read_inbox", "left_messages"), (4,)),
    "read_published": (0,),
    "read_attempts": (10,),
    "read_request": (2,),
    "read_secret": (0,),
    "read_seals": (1,),
}
"""The cells of what a statement answers that may be sealed."""

_CONFIDED: Final = (r"\"secret\":", r"\"headers\":")
"""How the words of a target stand in a definition, which has them as JSON in JSON."""

STRICT: Final = frozenset(
    {"read_steps", "read_inbox", "read_published", "read_request", "read_secret", "read_seals", "lock_gathered"}
)
"""Statements about one thing, which fail if it cannot be read. Of the others, which answer about many, a value that
cannot be read stays sealed: it must not keep the rest waiting, and whoever looks into it is told."""


class Ring:
    """The keys of an instance: the first one seals, all of them read."""

    def __init__(self, words: Sequence[str], chance: Chance) -> None:
        try:
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError as error:
            raise ConfigurationError(
                f"payload_keys needs cryptography ({error}); install it with: pip install 'duly[encryption]'"
            ) from error
        keys = read_keys(words)
        self._cipher = AESGCM
        self._invalid = InvalidTag
        self._first = keys[0]
        self._keys = {key.id: key for key in keys if key is not None}
        self._chance = chance

    @property
    def first(self) -> str | None:
        """The name of the key that seals; None while nothing is."""
        return None if self._first is None else self._first.id

    def seal(self, text: str, whose: str) -> str:
        key = self._first
        if key is None:
            return text
        nonce = self._chance.entropy(NONCE_BYTES)
        data = self._cipher(_key_for(key, whose)).encrypt(nonce, text.encode(), _bound(key.id, whose))
        return f"{MARK}{key.id}${b64encode(nonce + data).decode()}${whose}"

    def unseal(self, sealed: str) -> str:
        """What was sealed; PayloadUnreadable without its key, and of what was changed since."""
        name, data, whose = parts_of(sealed)
        key = self._keys.get(name)
        if key is None:
            return readable(sealed)
        try:
            raw = b64decode(data, validate=True)
            found = self._cipher(_key_for(key, whose)).decrypt(
                raw[:NONCE_BYTES], raw[NONCE_BYTES:], _bound(name, whose)
            )
            return found.decode()
        except (self._invalid, binascii.Error, ValueError):
            return readable(sealed)


def _key_for(key: SealKey, whose: str) -> bytes:
    """A key for one row: random nonces never come near their limit, however many rows there are."""
    return blake2b(whose.encode(), key=key.secret, digest_size=32, person=b"duly.seal").digest()


def _bound(name: str, whose: str) -> bytes:
    return f"{name}${whose}".encode()


class SealingDriver:
    """Another driver, below which all that is people's own is sealed."""

    def __init__(self, driver: Driver, ring: Ring) -> None:
        self._driver = driver
        self.ring = ring
        self.name = driver.name
        self.fires_at_once = driver.fires_at_once
        self.presence = driver.presence
        self.checks, self.close, self.close_sync = driver.checks, driver.close, driver.close_sync
        self.remembered, self.remember = driver.remembered, driver.remember
        self.hint, self.on_hint = driver.hint, driver.on_hint

    async def open(self) -> None:
        await self._driver.open()
        if await self.read(self._is_new):
            await self.write(self._announce)

    def open_sync(self) -> None:
        self._driver.open_sync()
        if self.read_sync(self._is_new):
            self.write_sync(self._announce)

    async def write(self, transaction: Transaction[T], *, due: int | None = None, engine: bool = False) -> T:
        return await self._driver.write(self._sealed(transaction), due=due, engine=engine)

    async def read(self, transaction: Transaction[T], *, engine: bool = False) -> T:
        return await self._driver.read(self._sealed(transaction), engine=engine)

    def write_sync(self, transaction: Transaction[T]) -> T:
        return self._driver.write_sync(self._sealed(transaction))

    def read_sync(self, transaction: Transaction[T]) -> T:
        return self._driver.read_sync(self._sealed(transaction))

    async def write_on(self, connection: Any, transaction: Transaction[T]) -> T:
        return await self._driver.write_on(connection, self._sealed(transaction))

    def write_on_sync(self, connection: Any, transaction: Transaction[T]) -> T:
        return self._driver.write_on_sync(connection, self._sealed(transaction))

    def _is_new(self, now: int) -> Program[bool]:
        """Whether the store does not know yet that the first key is in use."""
        rows = yield query("read_seals")
        return self.ring.first is not None and f"{CANARY}{self.ring.first}" not in {name for name, _ in rows}

    def _announce(self, now: int) -> Program[None]:
        """Write something under the first key: whoever opens the store without it is refused, and told its name."""
        yield query("put_secret", name=f"{CANARY}{self.ring.first}", value='"sealed"')

    def _sealed(self, transaction: Transaction[T]) -> Transaction[T]:
        def begin(now: int) -> Program[T]:
            return self._seal(transaction(now))

        return begin

    def _seal(self, program: Program[T]) -> Program[T]:
        for step in (steps := Steps(program)):
            rows = yield self._step(step)
            if isinstance(step, Group):
                steps.answer = [self._rows(one, found) for one, found in zip(step.steps, rows, strict=True)]
            else:
                steps.answer = self._rows(step, rows)
        return steps.value

    def _step(self, step: Step) -> Step:
        if isinstance(step, Group):
            return Group([_one(self._step(one)) for one in step.steps], step.last)
        written = WRITTEN.get(step.name)
        if written is None or self.ring.first is None:
            return step
        if isinstance(step, Batch):
            whose = step.columns[written.whose]
            sealed = {
                name: [
                    self._value(value, owner, seldom=name == written.definition)
                    for value, owner in zip(step.columns[name], whose, strict=True)
                ]
                for name in written.sealed
            }
            return Batch(step.name, {**step.columns, **sealed}, step.params)
        owner = step.params[written.whose]
        return type(step)(
            step.name, {**step.params, **{name: self._value(step.params[name], owner) for name in written.sealed}}
        )

    def _value(self, value: Any, whose: str, *, seldom: bool = False) -> Any:
        if value is None or value.startswith(MARK) or (seldom and not is_confided(value)):
            return value
        return self.ring.seal(value, whose)

    def _rows(self, step: Query | Batch, rows: Sequence[Row]) -> Sequence[Row]:
        cells = READ.get(step.name)
        if cells is None:
            return rows
        return [self._row(step, row, cells) for row in rows]

    def _row(self, step: Query | Batch, row: Row, cells: tuple[int, ...]) -> Row:
        if not any(row[cell] is not None and row[cell].startswith(MARK) for cell in cells):
            return row
        found = list(row)
        for cell in cells:
            text = found[cell]
            if text is not None and text.startswith(MARK):
                found[cell] = self._open(step, row, text)
        return tuple(found)

    def _open(self, step: Query | Batch, row: Row, sealed: str) -> str:
        try:
            if not _belongs(parts_of(sealed)[2], step, row):
                return readable(sealed)
            return self.ring.unseal(sealed)
        except PayloadUnreadable as error:
            if step.name in STRICT:
                raise
            log.error("a value in the answer of %s cannot be read: %s", step.name, error)
            return sealed


def is_confided(definition: str) -> bool:
    """Whether a definition has what nobody else may read: a target's secret, or its headers.

    The others are alike and say nothing that lists do not show, and are read once for many.
    """
    return any(word in definition for word in _CONFIDED)


def _one(step: Step) -> Query | Batch:
    assert not isinstance(step, Group)
    return step


def _belongs(whose: str, step: Query | Batch, row: Row) -> bool:
    """Whether the row, or the question, is about the one that a value was sealed for."""
    return whose in row or any(
        whose == asked or (type(asked) is list and whose in asked) for asked in step.params.values()
    )


def sealing(driver: Driver, words: Sequence[str]) -> Driver:
    """The driver, sealing with the keys that are named; itself where none is."""
    return SealingDriver(driver, Ring(words, Chance())) if words else driver


def refuse_unknown_seals(now: int) -> Program[None]:
    """Refuse a store that holds sealed values, by the name of a key that is not here."""
    for _, value in (yield query("read_seals")):
        readable(value)
