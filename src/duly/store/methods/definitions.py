"""Revisions are immutable, so a definition once read can be kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from threading import Lock

from duly.core.schedule import Definition
from duly.store.codec import UnreadableDefinition, decode_body
from duly.store.statements import Program, batch, columns

Revision = tuple[str, int]
Known = Mapping[Revision, Definition | UnreadableDefinition]


class Definitions:
    """A bounded cache of definitions by (schedule id, revision), shared by the threads of one store."""

    def __init__(self, most: int = 50_000) -> None:
        self._most = most
        self._kept: OrderedDict[Revision, Definition] = OrderedDict()
        self._lock = Lock()

    def keep(self, schedule_id: str, revision: int, definition: Definition) -> None:
        with self._lock:
            self._kept[schedule_id, revision] = definition
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def forget(self) -> None:
        """Drop everything: a transaction failed whose uncommitted edits may have been read."""
        with self._lock:
            self._kept.clear()

    def load(self, wanted: Iterable[Revision]) -> Program[Known]:
        """Answer the definitions asked for; one that cannot be read is answered as its error."""
        found: dict[Revision, Definition | UnreadableDefinition] = {}
        missing: list[Revision] = []
        for revision in wanted:
            kept = self._kept.get(revision)
            if kept is None:
                missing.append(revision)
            else:
                found[revision] = kept
        if missing:
            rows = yield batch("read_revisions", columns(("schedule_id", "revision"), missing))
            for schedule_id, number, body, payload in rows:
                try:
                    definition = decode_body(body, payload)
                except UnreadableDefinition as error:
                    found[schedule_id, number] = error
                else:
                    found[schedule_id, number] = definition
                    self.keep(schedule_id, number, definition)
        return found
