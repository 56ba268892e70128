"""Failures: each becomes one line on stderr, perhaps a second that says what to do, and an exit code."""

from __future__ import annotations

from collections.abc import Sequence

import click

from duly.core.errors import (
    ConfigurationError,
    Conflict,
    DulyError,
    EnqueueFailure,
    Invalid,
    NotAuthorised,
    NotFound,
    OutcomeUnknown,
    ServerUnreachable,
    StoreUnavailable,
)

FAILED = 1
USAGE = 2
NOT_FOUND = 3
CONFLICT = 4
UNREACHABLE = 69
NOT_AUTHORISED = 77
CONFIGURATION = 78
CTRL_C = 130

_CODES: tuple[tuple[type[DulyError], int], ...] = (
    (Invalid, USAGE),
    (NotFound, NOT_FOUND),
    (Conflict, CONFLICT),
    (ServerUnreachable, UNREACHABLE),
    (StoreUnavailable, UNREACHABLE),
    (OutcomeUnknown, UNREACHABLE),
    (EnqueueFailure, UNREACHABLE),
    (NotAuthorised, NOT_AUTHORISED),
    (ConfigurationError, CONFIGURATION),
)


class Refused(click.ClickException):
    """A command line that cannot be carried out: what is wrong, one by one if it is much, and what to do about it."""

    def __init__(
        self, message: str, advice: str | None = None, *, code: int = USAGE, lines: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.advice = advice
        self.code = code
        self.lines = lines


def report(error: Exception) -> int:
    """Say on stderr what went wrong; answer the exit code."""
    if type(error).__name__ == "NoArgsIsHelpError":  # by name: older versions of click have none
        click.echo(str(error), err=True)
        return USAGE
    message, advice, code = _explained(error)
    click.echo(f"duly: {' '.join(message.split())}", err=True)
    for line in error.lines if isinstance(error, Refused) else ():
        click.echo(f"      {' '.join(line.split())}", err=True)
    if advice:
        click.echo(f"      {' '.join(advice.split())}", err=True)
    return code


def exit_code(error: DulyError) -> int:
    """The exit code of an error of duly's: the first class in the list that it belongs to."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), FAILED)


def _explained(error: Exception) -> tuple[str, str | None, int]:
    match error:
        case Refused():
            return error.message, error.advice, error.code
        case click.UsageError():
            # The message alone: where a person errs, the whole usage hides what is wrong.
            advice = f"`{error.ctx.command_path} --help` shows what is possible" if error.ctx else None
            return error.format_message(), advice, USAGE
        case click.ClickException():
            return error.format_message(), None, error.exit_code
        case DulyError():
            return error.message, _ADVICE.get(error.code), exit_code(error)
        case _:
            told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return f"something unforeseen happened: {told}", "DULY_DEBUG=1 shows where; please report it", FAILED


_ADVICE = {
    "SCHEDULE_JOB_NOT_FOUND": "`duly schedule list` and `duly run list` show what there is",
    "SCHEDULE_REVISION_STALE": "`duly schedule get` shows the newest revision; look, then try again",
    "OPERATION_NOT_FOUND": "`duly operation list` shows what there is",
    "CALENDAR_NOT_FOUND": "`duly calendar list` shows what there is",
    "CALENDAR_UNKNOWN": "`duly calendar list` shows what there is, `duly calendar set` makes one",
    "STORE_UNAVAILABLE": "`duly doctor` looks at the database step by step",
    "SERVER_UNREACHABLE": "is `duly serve` running there? --server, or DULY_API_URL, says where to look",
    "KEY_NOT_FOUND": "`duly key list` shows what there is",
    "FORBIDDEN": "another key may: `duly key list` on the server shows what each may do",
    "NOT_AUTHORISED": "--token, or DULY_API_KEY, gives a key; `duly key create` on the server makes one",
}
