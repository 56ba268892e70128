"""Failures: each becomes one line on stderr, perhaps a second that says what to do, and an exit code."""

from __future__ import annotations

import errno
import re
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
from duly.store.rights import RightsMissing

from .tables import printable

FAILED = 1
USAGE = 2
NOT_FOUND = 3
CONFLICT = 4
UNREACHABLE = 69
NOT_AUTHORISED = 77
CONFIGURATION = 78
CTRL_C = 130
READER_GONE = 141
"""What a shell says of a command whose reader went away, as in ``duly run list | head -1``: 128 and SIGPIPE."""

_CODES: tuple[tuple[type[DulyError], int], ...] = (
    (Invalid, USAGE),
    (NotFound, NOT_FOUND),
    (Conflict, CONFLICT),
    (RightsMissing, CONFIGURATION),
    (ServerUnreachable, UNREACHABLE),
    (StoreUnavailable, UNREACHABLE),
    (OutcomeUnknown, UNREACHABLE),
    (EnqueueFailure, UNREACHABLE),
    (NotAuthorised, NOT_AUTHORISED),
    (ConfigurationError, CONFIGURATION),
)

_ASKED = re.compile(r"^query parameter ([A-Za-z]+) is")
_FLAGS = {"q": "search", "jobType": "job", "scheduleId": "schedule"}
"""How the API names what it was asked; whoever wrote a command line wrote a flag."""

_MORE = re.compile(r"; and \d+ more, see errors$")
"""How the API says that an answer tells of more mistakes than the first."""


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
    lines = [message, *_others(error), *([advice] if advice else ())]
    for at, line in enumerate(lines):
        # Of a file, a server or a database: what it says must not move the cursor or colour the screen.
        click.echo(f"{'      ' if at else 'duly: '}{printable(' '.join(line.split()))}", err=True)
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
            message = _in_flags(_MORE.sub("", error.message) if _others(error) else error.message)
            return message, _ADVICE.get(error.code), exit_code(error)
        case OSError(errno=number) if number in _UNWRITABLE and error.filename is None:
            return f"the output cannot be written: {error.strerror}", None, FAILED
        case OSError(filename=str() as name, strerror=str() as why):
            return f"{name!r} cannot be used: {why}", None, USAGE
        case _:
            told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return f"something unforeseen happened: {told}", "DULY_DEBUG=1 shows where; please report it", FAILED


def _in_flags(message: str) -> str:
    return _ASKED.sub(lambda found: f"--{_FLAGS.get(found[1], found[1])} is", message)


def _others(error: Exception) -> list[str]:
    """What else is wrong, one by one."""
    match error:
        case Refused():
            return list(error.lines)
        case DulyError(details={"errors": [_, *others]}):
            return [_in_flags(str(one["detail"])) for one in others]
        case _:
            return []


_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
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
