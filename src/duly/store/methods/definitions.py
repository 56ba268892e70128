"""Revisions are immutable, so a definition once read can be kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock

from duly.core.schedule import Definition
from duly.store.codec import UnreadableDefinition, decode_body
from duly.store.statements import Batch, Program, Row, batch, columns

from .calendars import Calendars

Revision = tuple[str, int]
Read = dict[Revision, Definition | UnreadableDefinition]
Known = Mapping[Revision, Definition | UnreadableDefinition]


class Definitions:
    """A bounded cache of definitions by (schedule id, revision), shared by the threads of one store."""

    def __init__(self, most: int = 50_000) -> None:
        self._most = most
        self._kept: OrderedDict[Revision, Definition] = OrderedDict()
        self._lock = Lock()
        self.calendars = Calendars()

    def keep(self, definitions: Iterable[tuple[Revision, Definition]]) -> None:
        with self._lock:
            for revision, definition in definitions:
                if definition.calendars:
                    self.calendars.used = True
                self._kept[revision] = definition
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def forget(self) -> None:
        """Drop everything: a transaction failed whose uncommitted edits may have been read."""
        with self._lock:
            self._kept.clear()
        self.calendars.forget()

    def load(self, wanted: Iterable[Revision]) -> Program[Known]:
        """Answer the definitions asked for; one that cannot be read is answered as its error."""
        known, missing = self.look_up(wanted)
        if missing:
            self.read(known, (yield read_revisions(missing)))
        return known

    def look_up(self, wanted: Iterable[Revision]) -> tuple[Read, list[Revision]]:
        """What is kept, and what must be read."""
        known: Read = {}
        missing: list[Revision] = []
        for revision in wanted:
            kept = self._kept.get(revision)
            if kept is None:
                missing.append(revision)
            else:
                known[revision] = kept
        return known, missing

    def read(self, known: Read, rows: Iterable[Row]) -> None:
        """Add to what is known the rows of ``read_revisions``, and keep them."""
        fresh: list[tuple[Revision, Definition]] = []
        for schedule_id, number, body, payload in rows:
            try:
                definition = decode_body(body, payload)
            except UnreadableDefinition as error:
                known[schedule_id, number] = error
            else:
                known[schedule_id, number] = definition
                fresh.append(((schedule_id, number), definition))
        self.keep(fresh)


def read_revisions(wanted: Sequence[Revision]) -> Batch:
    return batch("read_revisions", columns(("schedule_id", "revision"), wanted))
