"""Everything that is wrong with a request, found in one go and told by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NotRequired, TypedDict

from duly.core.errors import Invalid, ValidationFailed

from .wording import in_json_words

# The words of the Python interface whose name in a body is more than their camelCase.
POINTERS: Mapping[str, str] = {
    "cron": "/cronExpression",
    "every": "/everyMs",
    "milliseconds": "/everyMs",
    "minutes": "/intervalMinutes",
    "at": "/onceAt",
    "instant": "/onceAt",
    "local time": "/onceAt",
    "daily": "/dailyTime",
    "weekly": "/weeklyTime",
    "monthly": "/monthlyTime",
    "timing": "",
    "job": "/jobType",
    "payload": "/jobPayload",
    "timeout": "/timeoutSeconds",
    "overlap": "/overlapPolicy",
    "catch_up": "/catchUp/policy",
    "catch_up.max_lateness": "/catchUp/maxLatenessSeconds",
    "dst_gap": "/dst/gap",
    "dst_fold": "/dst/fold",
    "max_attempts": "/maxAttempts",
    "backoff": "/retryPolicy/backoff",
    "delay": "/retryPolicy/delaySeconds",
    "max_delay": "/retryPolicy/maxDelaySeconds",
}

# Below these stand names that the caller made up: each is one step of a pointer, exactly as it was written.
_OWN_NAMES = ("target.headers.", "target.")

MOST = 50
"""How many findings one answer tells of; the rest is only counted."""


class FieldError(TypedDict):
    """One thing that is wrong: where (a JSON pointer into the body, or a query parameter), and what."""

    code: str
    detail: str
    pointer: NotRequired[str]
    parameter: NotRequired[str]


class Findings:
    """Collects what is wrong, so that one answer tells it all."""

    def __init__(self) -> None:
        self._found: list[tuple[FieldError, Invalid]] = []
        self._untold = 0

    def add(self, detail: str, *, pointer: str | None = None, parameter: str | None = None) -> None:
        """Note a value that may not be."""
        self._note(ValidationFailed(detail), pointer, parameter)

    @contextmanager
    def at(self, pointer: str | None = None, *, parameter: str | None = None, **fields: str) -> Iterator[None]:
        """Note a refusal raised within, and go on. ``fields`` gives single fields another place than ``pointer``."""
        try:
            yield
        except Invalid as error:
            self._note(error, fields.get(error.field or "", pointer), parameter)

    def __bool__(self) -> bool:
        return bool(self._found)

    @property
    def room(self) -> int:
        """How many more findings will be told of."""
        return MOST - len(self._found)

    def count(self, more: int) -> None:
        """Count findings that nobody looked at closely, because there is no room for them."""
        self._untold += more

    @contextmanager
    def under(self, pointer: str) -> Iterator[None]:
        """Note everything that a refusal raised within tells of, below a place in the body, and go on."""
        try:
            yield
        except Invalid as error:
            self.take(error, pointer)

    def take(self, error: Invalid, pointer: str) -> None:
        """Note everything that a refusal tells of, below a place in the body."""
        own = [FieldError(code=error.code, detail=in_json_words(error.message), pointer="")]
        for entry in field_errors(error) or own:
            self._keep(FieldError(**{**entry, "pointer": pointer + entry.get("pointer", "")}), error)

    def check(self) -> None:
        """Raise one error with everything that was found, if anything was."""
        if not self._found:
            return
        errors = [entry for entry, _ in self._found]
        first = self._found[0][1]
        same = all(type(error) is type(first) for _, error in self._found)
        kind = type(first) if same else ValidationFailed
        others = len(errors) - 1 + self._untold
        where = f"the first {len(errors)} in errors" if self._untold else "see errors"
        more = f"; and {others} more, {where}" if others else ""
        raise kind(f"{errors[0]['detail']}{more}", field=first.field, got=first.got, errors=errors)

    def _note(self, error: Invalid, pointer: str | None, parameter: str | None) -> None:
        entry = FieldError(code=error.code, detail=in_json_words(error.message))
        if parameter is not None:
            entry["parameter"] = parameter
        else:
            entry["pointer"] = place = pointer_of(error.field) if pointer is None else pointer
            entry["detail"] = in_json_words(error.message, place)
        self._keep(entry, error)

    def _keep(self, entry: FieldError, error: Invalid) -> None:
        if self.room:
            self._found.append((entry, error))
        else:
            self._untold += 1


def field_errors(error: Invalid, places: Mapping[str, str] = {}) -> list[FieldError]:
    """The errors that one refusal tells of."""
    found: Any = error.details.get("errors")
    if found is not None:
        return list(found)
    if error.field is None:
        return []
    pointer = pointer_of(error.field, places.get(error.field))
    return [FieldError(code=error.code, detail=in_json_words(error.message, pointer), pointer=pointer)]


@contextmanager
def telling(**places: str) -> Iterator[None]:
    """Let a refusal raised within tell where in the body the value stood."""
    try:
        yield
    except Invalid as error:
        if errors := field_errors(error, places):
            error.details["errors"] = errors
            if len(errors) == 1:
                error.message = errors[0]["detail"]
        raise


def pointer_of(field: str | None, otherwise: str | None = None) -> str:
    """The place in a body that one of the app's words comes from, as a JSON pointer."""
    if otherwise is not None:
        return otherwise
    if field is None:
        return ""
    for start in _OWN_NAMES:
        if field.startswith(start):
            return f"/{start.replace('.', '/')}{escaped(field.removeprefix(start))}"
    known = POINTERS.get(field)
    return known if known is not None else "/" + "/".join(camel(part) for part in field.split("."))


def camel(name: str) -> str:
    """``max_runs`` as it stands in JSON: ``maxRuns``."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def escaped(name: str) -> str:
    """A member's name as one step of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")
