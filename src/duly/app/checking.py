"""Checks of single values: each answers the value as it is kept, or refuses it by name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from duly.core.errors import NotFound, ValidationFailed
from duly.core.ids import is_id, is_uuid7
from duly.core.policy import CatchUp, Missed, Retry, choose
from duly.core.positions import read_position
from duly.core.timing import Jitter

METADATA = ("owner_id", "tenant_id", "correlation_id", "client_request_id")
_COMMANDS = re.compile("[\x7f-\x9f]")  # terminals obey them
_TIMINGS = frozenset({"cron", "every", "at", "daily", "weekly", "monthly", "once"})


def check_words(call: str, given: Mapping[str, Any], known: frozenset[str], named: Collection[str] = ()) -> None:
    """Refuse options that do not exist, by name; ``named`` are those that the call takes besides."""
    if not given.keys() <= known:
        unknown = sorted(given.keys() - known)
        hint = "; a timing is given as timing=Cron(...), Every(...) or Once(...)" if unknown[0] in _TIMINGS else ""
        from difflib import get_close_matches  # only when something is wrong

        near = [word for word in (*known, *named) if unknown[0].startswith(f"{word}_")] or get_close_matches(
            unknown[0], [*known, *named], 1
        )
        meant = f"did you mean {near[0]!r}? All are" if near else "expected some of"
        raise ValidationFailed(
            f"{call} has no option {unknown[0]!r}; {meant} {', '.join(sorted({*known, *named}))}{hint}",
            field=unknown[0],
            got=unknown,
            expected="a known option",
        )


def check_mapping(call: str, given: Any) -> Mapping[str, Any]:
    """Answer a mapping of create's arguments, or refuse what is none."""
    if type(given) is dict or isinstance(given, Mapping):
        return given
    raise ValidationFailed(f"{call} got {given!r}; expected a mapping of create's arguments")


def check_list(call: str, given: Any, what: str) -> list[Any]:
    """Answer what a call is given many of, or refuse what is not many."""
    if isinstance(given, Mapping | str | bytes) or not isinstance(given, Iterable):
        raise ValidationFailed(f"{call} got {given!r}; expected a list of {what}")
    return [*given]


def timeout_in_ms(timeout: float | None) -> int | None:
    """Seconds to milliseconds; None is no limit."""
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= 31_536_000:
        raise ValidationFailed(
            f"timeout is {timeout!r}; expected seconds above 0 and up to a year, or None for no limit",
            field="timeout",
            got=timeout,
            expected="seconds or None",
        )
    return max(1, round(timeout * 1000))


def check_patience(timeout: float | None) -> None:
    """Refuse a time to wait that is none."""
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout >= 0):
        raise ValidationFailed(
            f"timeout is {timeout!r}; expected seconds from 0, or None to wait for ever", field="timeout", got=timeout
        )


def check_metadata(given: Mapping[str, str | None]) -> dict[str, str | None]:
    check_kind(given, Mapping, "metadata", f"a mapping with some of {', '.join(METADATA)}, or None")
    for name, value in given.items():
        if name not in METADATA:
            raise ValidationFailed(
                f"metadata has {name!r}; expected {', '.join(METADATA)}", field=f"metadata.{name}", got=name
            )
        check_text(value, f"metadata.{name}", 128)
    return dict(given)


def check_strict_ids(given: Mapping[str, str | None]) -> None:
    """Refuse an id of the metadata that is not a UUID of version 7."""
    for name, value in given.items():
        if value and not is_uuid7(value):
            raise ValidationFailed(
                f"metadata.{name} is {value[:60]!r}; expected a UUID of version 7 in lower case (setting strict_ids)",
                field=f"metadata.{name}",
                got=value,
                expected="a UUID of version 7",
            )


def check_tags(tags: Sequence[str]) -> tuple[str, ...]:
    if type(tags) is tuple and not tags:
        return ()
    if isinstance(tags, str | bytes) or not isinstance(tags, Sequence) or len(tags) > 50 or None in tags:
        raise ValidationFailed(f"tags is {tags!r}; expected a list of at most 50 words", field="tags", got=tags)
    return tuple(dict.fromkeys(check_text(tag, "tags", 100) or "" for tag in tags))


def check_catch_up(given: str | CatchUp) -> CatchUp | Missed:
    """Return the policy as given; the name of one leaves its limits to the settings."""
    return given if isinstance(given, CatchUp) else choose(Missed, given, "catch_up")


def check_retry(given: Retry | None) -> Retry | None:
    check_kind(given, Retry, "retry", "Retry(...) or None")
    return given


def check_jitter(given: Jitter | tuple[int, int] | None) -> Jitter | None:
    if isinstance(given, tuple | list) and len(given) == 2:
        return Jitter(*given)
    check_kind(given, Jitter, "jitter", "(min_ms, max_ms) in whole milliseconds, or None")
    return given


def check_queue(queue: str) -> str:
    name = check_text(queue, "queue", 200)
    if not name:
        raise ValidationFailed(f"queue is {queue!r}; expected a name", field="queue", got=queue)
    return name


def check_priority(priority: int) -> int:
    return check_number(priority, "priority", -32_768, 32_767)


def check_text(value: str | None, field: str, most: int) -> str | None:
    """Answer a text of one line that any store can keep and any terminal can show, or refuse it."""
    if check_prose(value, field, most) is not None and _COMMANDS.search(str(value)):
        raise ValidationFailed(
            f"{field} is {ascii(value)[:60]}; expected text without the control characters U+007F to U+009F",
            field=field,
            expected="text without control characters",
        )
    return value


def check_name(name: str | None) -> str | None:
    """Answer the name of a schedule, which a person can see, or refuse it."""
    if check_text(name, "name", 200) is not None and not str(name).strip():
        raise ValidationFailed(
            f"name is {name!r}; expected a text that can be seen, or none, for the key", field="name", expected="a name"
        )
    return name


def check_prose(value: str | None, field: str, most: int) -> str | None:
    """Answer a text that any store can keep, or refuse it."""
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > most or "\x00" in value or not _encodes(value):
        raise ValidationFailed(
            f"{field} is {_shown(value)}; expected text of at most {most} whole characters without NUL",
            field=field,
            expected=f"at most {most} characters",
        )
    return value


def _shown(value: object) -> str:
    return repr(value[:60]) if isinstance(value, str) else repr(value)[:60]


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_truth(value: bool, field: str) -> bool:
    if not isinstance(value, bool):
        raise ValidationFailed(f"{field} is {value!r}; expected True or False", field=field, got=value)
    return value


def check_count(value: int | None, field: str) -> int | None:
    return None if value is None else check_number(value, field, 1, 2**31 - 1)


def check_number(value: int, field: str, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValidationFailed(
            f"{field} is {value!r}; expected a whole number from {least} to {most}",
            field=field,
            got=value,
            expected=f"{least}-{most}",
        )
    return value


def check_kind(value: object, kind: type, field: str, expected: str) -> None:
    if value is not None and not isinstance(value, kind):
        raise ValidationFailed(f"{field} is {value!r}; expected {expected}", field=field, got=value, expected=expected)


def check_cursor(cursor: str | None) -> str | None:
    if cursor is not None and (not isinstance(cursor, str) or not is_id(cursor)):
        raise ValidationFailed(f"cursor is {cursor!r}; expected the next_cursor of the page before", field="cursor")
    return cursor


def check_position(cursor: str | None) -> str | None:
    """The same for a cursor of a list of runs."""
    if cursor is not None and (not isinstance(cursor, str) or read_position(cursor) is None):
        raise ValidationFailed(f"cursor is {cursor!r}; expected the next_cursor of the page before", field="cursor")
    return cursor


def check_limit(limit: int) -> int:
    return check_number(limit, "limit", 1, 200)


def check_id(id: str, field: str = "id") -> str:
    """Answer an id that the caller chose, or refuse it."""
    if not isinstance(id, str) or not is_id(id):
        raise ValidationFailed(f"{field} is {id!r}; expected a UUID in lower case with hyphens", field=field, got=id)
    return id


def may_be_id(id: object, what: str) -> bool:
    """Whether something may have this id; what can be none because it is no text is refused."""
    return is_id(check_named(id, "id", what))


def check_named(ref: object, field: str, what: str) -> str:
    """Refuse what can name nothing because it is no text."""
    if not isinstance(ref, str):
        raise ValidationFailed(
            f"{field} is {_shown(ref)}; expected the {field} of {what}, as text", field=field, got=ref
        )
    return ref


def not_found(what: str, ref: str) -> NotFound:
    return NotFound(f"there is no {what} with id or key {ref!r}", ref=ref)
