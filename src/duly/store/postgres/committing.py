"""The write of one transaction up to its commit, which goes with the last step if the program says which that is."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.pq.abc import PGresult

from duly.core.errors import StoreUnavailable
from duly.store.postgres.connections import Lent
from duly.store.postgres.errors import outcome_unknown
from duly.store.postgres.wire import Ask, is_good, lost
from duly.store.statements import Row

_COMMIT = b"COMMIT"


class Write:
    """Asks on a connection whose transaction has begun."""

    def __init__(self, lent: Lent, where: str) -> None:
        self._lent = lent
        self._wire = lent.wire
        self._where = where
        self._committed = False

    def ask(self, ask: Ask) -> list[Row]:
        assert not self._committed, "a program asks for more after the step that it called its last"
        return self._wire.ask(ask)

    def ask_all(self, asks: Sequence[Ask], *, last: bool) -> list[list[Row]]:
        assert not self._committed, "a program asks for more after the step that it called its last"
        if not last:
            return self._wire.ask_all(asks)
        self._wire.prepare_all(asks)
        self._begin_commit()
        results = self._wire.send_all(asks, _COMMIT)
        # A statement that failed kept the server from coming to the commit.
        self._lent.committing = all(map(is_good, results[: len(asks)]))
        rows = self._wire.read_all(results, len(asks))
        if len(results) == len(asks):
            raise lost()
        self._end_commit(self._wire.checked(results[-1]))
        return rows

    def commit(self) -> None:
        """Commit what is not yet."""
        if not self._committed:
            self._begin_commit()
            self._end_commit(self._wire.run(_COMMIT))

    def _begin_commit(self) -> None:
        self._lent.warnings.clear()
        self._lent.committing = True

    def _end_commit(self, result: PGresult) -> None:
        """Believe a commit only if the server says so without a word of warning.

        A wait for a standby that is cut short ends in a warning: committed here, perhaps lost in a failover.
        """
        if result.command_status != _COMMIT:
            raise StoreUnavailable(f"PostgreSQL at {self._where} rolled the transaction back; nothing was done")
        if self._lent.warnings:
            raise outcome_unknown(self._where, self._lent.warnings[0])
        self._committed = True
