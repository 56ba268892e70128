"""One transaction on a connection, from its begin to its commit, in as few waits for the server as there can be.

It begins together with its first step, for which the server's clock is foretold, and commits together with its last one
if the program says which that is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from psycopg.pq import DiagnosticField
from psycopg.pq.abc import PGresult

from duly.core.errors import StoreUnavailable
from duly.store.postgres.connections import Lent
from duly.store.postgres.errors import outcome_unknown
from duly.store.postgres.wire import Ask, is_good, lost
from duly.store.statements import Row

_COMMIT = b"COMMIT"
_CONNECTION_LOST = b"08"
_DIVISION_BY_ZERO = b"22012"


class Misjudged(Exception):
    """The server's clock does not show what was foretold, or was not asked: nothing was done."""


class Opening:
    """The statements that begin a transaction; ``read`` is told what the server's clock shows."""

    __slots__ = ("asks", "read")

    def __init__(self, asks: Sequence[Ask], read: Callable[[int], None]) -> None:
        self.asks = asks
        self.read = read

    def shown(self, rows: Sequence[list[Row]]) -> int:
        """What the server's clock shows, by the rows of these statements."""
        shows = int(rows[-1][0][0])
        self.read(shows)
        return shows


class Asking:
    """Asks on a connection; the transaction begins with the first step, or before it by ``begin``."""

    def __init__(self, lent: Lent, opening: Opening) -> None:
        self._lent = lent
        self._wire = lent.wire
        self._opening: Opening | None = opening

    @property
    def begun(self) -> bool:
        return self._opening is None

    def begin(self) -> int:
        """Begin apart from any step, and answer what the server's clock shows."""
        assert self._opening is not None
        opening, self._opening = self._opening, None
        return opening.shown(self._wire.ask_all(opening.asks))

    def ask(self, ask: Ask) -> list[Row]:
        return self._wire.ask(ask) if self.begun else self.ask_all([ask], last=False)[0]

    def ask_all(self, asks: Sequence[Ask], *, last: bool) -> list[list[Row]]:
        if self._opening is None:
            return self._wire.ask_all(asks)
        opening, self._opening = self._opening, None
        everything = [*opening.asks, *asks]
        self._wire.prepare_all(everything)
        return self._rows(opening, self._wire.send_all(everything), len(everything))

    def _rows(self, opening: Opening | None, results: Sequence[PGresult], count: int) -> list[list[Row]]:
        """The rows of so many statements, without those of the opening."""
        if opening is None:
            return self._wire.read_all(results, count)
        before = len(opening.asks)
        if any(map(_is_misjudged, results[:before])):
            raise Misjudged
        rows = self._wire.read_all(results, count)
        opening.shown(rows[:before])
        return rows[before:]


class Reading(Asking):
    """The same for a transaction that only reads."""

    def end(self) -> None:
        self._wire.run(_COMMIT)


class Writing(Asking):
    """The same for one that is to be committed."""

    def __init__(self, lent: Lent, opening: Opening, where: str) -> None:
        super().__init__(lent, opening)
        self._where = where
        self._committed = False

    def ask(self, ask: Ask) -> list[Row]:
        assert not self._committed, "a program asks for more after the step that it called its last"
        return super().ask(ask)

    def ask_all(self, asks: Sequence[Ask], *, last: bool) -> list[list[Row]]:
        assert not self._committed, "a program asks for more after the step that it called its last"
        return self._ask_last(asks) if last else super().ask_all(asks, last=False)

    def _ask_last(self, asks: Sequence[Ask]) -> list[list[Row]]:
        """Ask, and commit in the same wait."""
        opening, self._opening = self._opening, None
        everything = asks if opening is None else [*opening.asks, *asks]
        count = len(everything)
        if opening is not None:
            self._wire.check()  # a connection that died at rest did nothing; once the commit is sent nobody knows
        self._wire.prepare_all(everything)
        self._begin_commit()
        results = self._wire.send_all(everything, _COMMIT)
        # A statement that the server refused kept it from coming to the commit.
        self._lent.committing = not any(map(_is_refused, results[:count]))
        rows = self._rows(opening, results, count)
        if len(results) == count:
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


def _is_misjudged(result: PGresult) -> bool:
    return result.error_field(DiagnosticField.SQLSTATE) == _DIVISION_BY_ZERO


def _is_refused(result: PGresult) -> bool:
    """Whether the server said no; what has no code, or one of a lost connection, libpq or a pooler said by itself."""
    code = result.error_field(DiagnosticField.SQLSTATE)
    return not is_good(result) and code is not None and not code.startswith(_CONNECTION_LOST)
