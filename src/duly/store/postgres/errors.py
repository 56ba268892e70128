"""What a failure of psycopg means: not done, perhaps done, or refused.

Only an error around the COMMIT of a write leaves the outcome unknown. Anything before it did nothing, and is tried
again where trying again may help.
"""

from __future__ import annotations

from enum import Enum, auto

import psycopg

from duly.core.errors import OutcomeUnknown, StoreError, StoreUnavailable
from duly.store.clash import Clash
from duly.store.rights import RightsMissing

_UNIQUE = "23505"
_BUSY = frozenset({"40001", "40P01", "55P03", "57014"})
_GONE = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "25P04"})
_NOT_PREPARED = frozenset({"42P05", "26000"})
_STALE_PLAN = "0A000"
_READ_ONLY = "25006"
_NO_RIGHT = "42501"
_ROLLED_BACK_AT_COMMIT = ("23", "40", "53")


class Cure(Enum):
    """What may help before another try."""

    NOTHING = auto()
    WAIT = auto()
    RECONNECT = auto()
    STOP_PREPARING = auto()


def cure_for(error: psycopg.Error, *, broken: bool) -> Cure:
    """Say what may help against an error that came before the commit."""
    state = error.sqlstate or ""
    if state in _BUSY:
        return Cure.WAIT
    if state in _NOT_PREPARED:
        return Cure.STOP_PREPARING
    if broken or state in _GONE or state in (_STALE_PLAN, _READ_ONLY) or state.startswith("08"):
        return Cure.RECONNECT
    return Cure.NOTHING


def not_done(error: psycopg.Error, where: str) -> StoreError:
    """Our error for one that came before the commit: nothing was done."""
    state = error.sqlstate or ""
    text = _text_of(error)
    if state == _NO_RIGHT:
        return RightsMissing(
            f"PostgreSQL at {where} refused this user: {text}; grant it USAGE on the schema and "
            "SELECT, INSERT, UPDATE, DELETE on all its tables; or, if it is to create the tables, CREATE on the schema "
            "(else another user creates them: `duly db migrate`, or what `duly db sql` prints)",
            sqlstate=state,
        )
    if state.startswith(("22", "23", "42")):
        diag = error.diag
        what = "statement" if state.startswith("42") else "data"
        kind = Clash if state == _UNIQUE else StoreError
        return kind(
            f"PostgreSQL refused the {what}: {text}",
            sqlstate=state,
            table=diag.table_name,
            column=diag.column_name,
            constraint=diag.constraint_name,
        )
    if state == _READ_ONLY:
        return StoreUnavailable(
            f"the PostgreSQL server at {where} takes no writes: it is a standby or set to read-only; "
            "connect to the primary (several hosts with target_session_attrs=read-write find it)",
            sqlstate=state,
        )
    return StoreUnavailable(f"PostgreSQL at {where} did not do it: {text}", sqlstate=state or None)


def around_commit(error: psycopg.Error, where: str, *, broken: bool) -> StoreError:
    """Our error for one that came with the commit of a write."""
    state = error.sqlstate or ""
    if not broken and state.startswith(_ROLLED_BACK_AT_COMMIT):
        return not_done(error, where)
    return outcome_unknown(where, _text_of(error))


def outcome_unknown(where: str, why: str) -> OutcomeUnknown:
    return OutcomeUnknown(f"PostgreSQL at {where} did not confirm the commit ({why}); repeating the call is safe")


def not_begun(seconds: float) -> StoreUnavailable:
    return StoreUnavailable(f"the store did not come to this call within {seconds:g} s; nothing was done")


def too_long(where: str, seconds: float) -> StoreUnavailable:
    return StoreUnavailable(f"PostgreSQL at {where} did not answer within {seconds:g} s; nothing was done")


def _text_of(error: psycopg.Error) -> str:
    text = error.diag.message_primary or str(error).strip() or type(error).__name__
    return f"{text} [{error.sqlstate}]" if error.sqlstate else text
