"""Sealing anew: every value under the first key, so that another key can be thrown away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from duly.core.errors import PayloadUnreadable
from duly.core.sealed import MARK, is_sealed, parts_of, readable

from .sealing import CANARY, Ring, SealingDriver, is_confided
from .statements import Program, Row, batch, columns, query

AT_ONCE: Final = 500
_NO_ID: Final = "00000000-0000-0000-0000-000000000000"
_LEAST: Final = -(2**31)


@dataclass(frozen=True, slots=True)
class Place:
    """A table with sealed values: its key with what comes before all of them, the columns, and whose they are.

    ``definition`` is the column that is sealed only if ``is_confided`` says so.
    """

    keys: Mapping[str, Any]
    sealed: tuple[str, ...]
    whose: int = 0
    definition: str | None = None


PLACES: Final[Mapping[str, Place]] = {
    "revisions": Place({"schedule_id": _NO_ID, "revision": _LEAST}, ("payload", "body"), definition="body"),
    "changes": Place({"schedule_id": _NO_ID, "number": _LEAST}, ("fields",)),
    "runs": Place({"id": _NO_ID}, ("payload",)),
    "history": Place({"id": _NO_ID}, ("payload", "result")),
    "attempts": Place({"run_id": _NO_ID, "fence": _LEAST}, ("stack",)),
    "steps": Place({"run_id": _NO_ID, "position": _LEAST}, ("result", "log")),
    "inbox": Place({"run_id": _NO_ID, "n": _LEAST}, ("body",)),
    "published": Place({"run_id": _NO_ID, "name": ""}, ("value",)),
    "webhooks": Place({"id": _NO_ID}, ("secrets",)),
    "requests": Place({"tenant": "", "key": ""}, ("answer",), whose=1),
    "secrets": Place({"name": ""}, ("value",)),
}


@dataclass(slots=True)
class Resealed:
    """What was done: values that were sealed anew, and those that no key here can read."""

    written: int = 0
    unreadable: int = 0


async def reseal(driver: SealingDriver) -> Resealed:
    """Seal anew what is not under the first key, and forget the others once nothing is left of them.

    Values move while it works (a run that ends, one that is redriven), so it goes over all of them until nothing is
    left. Nothing waits for it: each batch is a transaction, and a value that somebody changes meanwhile is theirs.
    """
    done = Resealed()
    while True:
        written = done.unreadable = 0
        for name, place in PLACES.items():
            after: tuple[Any, ...] = tuple(place.keys.values())
            while rows := await driver.read(partial(_find, name=name, after=after, ring=driver.ring)):
                fresh = list(_anew(rows, place, driver.ring, done))
                if fresh:
                    await driver.write(partial(_write, name=name, rows=fresh))
                written += len(fresh)
                after = rows[-1][: len(place.keys)]
        done.written += written
        if not written:
            break
    if not done.unreadable:
        await driver.write(partial(_forget, first=driver.ring.first))
    return done


def _find(now: int, name: str, after: Sequence[Any], ring: Ring) -> Program[Sequence[Row]]:
    head = MARK if ring.first is None else f"{MARK}{ring.first}$"
    words = {f"after_{key}": value for key, value in zip(PLACES[name].keys, after, strict=True)}
    rows: Sequence[Row] = yield query(
        f"unsealed_{name}", **words, head=head, sealed=ring.first is not None, limit=AT_ONCE
    )
    return rows


def _anew(rows: Sequence[Row], place: Place, ring: Ring, done: Resealed) -> Iterator[Row]:
    """Key, new values and old values of each row that can be read."""
    width = len(place.keys)
    for row in rows:
        if str(row[0]).startswith(CANARY):
            continue
        try:
            fresh = [
                None if text is None else _sealed_anew(text, row[place.whose], ring, seldom=name == place.definition)
                for name, text in zip(place.sealed, row[width:], strict=True)
            ]
        except PayloadUnreadable:
            done.unreadable += 1
            continue
        yield (*row[:width], *fresh, *row[width:])


def _sealed_anew(text: str, whose: str, ring: Ring, *, seldom: bool) -> str:
    """The value under the first key; one that was moved here is not made to fit."""
    if is_sealed(text):
        text = ring.unseal(text) if parts_of(text)[2] == whose else readable(text)
    return text if seldom and not is_confided(text) else ring.seal(text, whose)


def _write(now: int, name: str, rows: Sequence[Row]) -> Program[None]:
    place = PLACES[name]
    names = (*place.keys, *place.sealed, *(f"was_{column}" for column in place.sealed))
    yield batch(f"reseal_{name}", columns(names, rows))


def _forget(now: int, first: str | None) -> Program[None]:
    yield query("drop_seals", name=f"{CANARY}{first or ''}")
