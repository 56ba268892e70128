"""Query parameters: text becomes values, and what is not known or not allowed is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from duly.app.overview import check_place
from duly.core.errors import DulyError, ValidationFailed
from duly.core.event import NAMES
from duly.core.ids import is_id
from duly.core.instants import to_ms
from duly.core.marks import Wanted, check_tag, parse_attributes
from duly.core.positions import read_position
from duly.core.run import RunStatus
from duly.core.schedule import ScheduleStatus
from duly.core.timing.duration import parse_duration
from duly.core.timing.epoch import expected_to_exist, parse_datetime
from duly.core.timing.refusal import shortened

from .findings import Findings

Read = Callable[[str], Any]


def whole_number(least: int, most: int) -> Read:
    def read(text: str) -> int:
        if text.isascii() and text.isdigit() and len(text) <= 10 and least <= int(text) <= most:
            return int(text)
        raise ValidationFailed(f"it is {shortened(text)}; expected a whole number from {least} to {most}")

    return read


def word(*allowed: str) -> Read:
    def read(text: str) -> str:
        if text in allowed:
            return text
        raise ValidationFailed(f"it is {shortened(text)}; expected {' | '.join(allowed)}")

    return read


def truth(text: str) -> bool:
    return bool(word("true", "false")(text) == "true")


def text_of(most: int) -> Read:
    def read(text: str) -> str:
        if len(text) <= most and text.isprintable():
            return text
        raise ValidationFailed(f"it is {shortened(text)}; expected at most {most} printable characters")

    return read


def words(*allowed: str) -> Read:
    """Some of them, joined by commas."""

    def read(text: str) -> tuple[str, ...]:
        found = tuple(part.strip() for part in text.split(","))
        if any(part not in allowed for part in found):
            raise ValidationFailed(f"it is {shortened(text)}; expected some of {', '.join(allowed)}")
        return found

    return read


def cursor(text: str) -> str:
    if is_id(text):
        return text
    raise ValidationFailed(f"it is {shortened(text)}; expected the nextCursor of the page before")


def position(text: str) -> str:
    if read_position(text) is not None:
        return text
    raise ValidationFailed(f"it is {shortened(text)}; expected the nextCursor of the page before")


def number(text: str) -> str:
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return text
    raise ValidationFailed(f"it is {shortened(text)}; expected the nextCursor of the page before")


def place(text: str) -> str:
    try:
        return check_place(text) or ""
    except ValidationFailed:
        raise ValidationFailed(f"it is {shortened(text)}; expected the nextCursor of the page before") from None


def instant(text: str) -> datetime:
    try:
        found = parse_datetime(text)
        to_ms(found)
    except ValidationFailed:
        found = None
    if found is None or found.tzinfo is None:
        expected = expected_to_exist(text) or "RFC 3339 text with an offset"
        raise ValidationFailed(f"it is {shortened(text)}; expected {expected}")
    return found


def length(text: str) -> timedelta:
    try:
        return timedelta(milliseconds=parse_duration(text))
    except DulyError:
        raise ValidationFailed(f"it is {shortened(text)}; expected a duration such as 60s, 24h or 7d") from None


def since(text: str) -> datetime | timedelta:
    """An instant, or how long ago."""
    for reader in (instant, length):
        try:
            return reader(text)
        except ValidationFailed:
            continue
    expected = expected_to_exist(text) or "a duration such as 24h, or RFC 3339 text with an offset"
    raise ValidationFailed(f"it is {shortened(text)}; expected {expected}")


def seconds(text: str) -> float:
    return length(text) / timedelta(seconds=1)


def tags(text: str) -> tuple[str, ...]:
    return tuple(check_tag(part) for part in text_of(1000)(text).split(","))


def attributes(text: str) -> tuple[Wanted, ...]:
    return parse_attributes(text_of(1000)(text))


PAGE: Mapping[str, Read] = {"limit": whole_number(1, 200), "cursor": cursor}
SCHEDULES: Mapping[str, Read] = {
    "enabled": truth,
    "jobType": text_of(100),
    "owner": text_of(128),
    "tenant": text_of(128),
    "topic": text_of(200),
    "tag": text_of(100),
    "status": word(*ScheduleStatus),
    "q": text_of(200),
    **PAGE,
}
RUN_PAGE: Mapping[str, Read] = {**PAGE, "cursor": position}
EXECUTIONS: Mapping[str, Read] = {"status": word(*RunStatus), **RUN_PAGE}
RUNS: Mapping[str, Read] = {
    "scheduleId": text_of(200),
    "jobType": text_of(100),
    "workflow": text_of(100),
    "owner": text_of(128),
    "tenant": text_of(128),
    "tag": tags,
    "attr": attributes,
    **EXECUTIONS,
}
DEAD_LETTERS: Mapping[str, Read] = {
    "scheduleId": text_of(200),
    "jobType": text_of(100),
    "queue": text_of(200),
    "tenant": text_of(128),
    "error": text_of(4096),
    "errorType": text_of(200),
    "errorLocation": text_of(300),
    **RUN_PAGE,
}
DEAD_GROUPS: Mapping[str, Read] = {name: reader for name, reader in DEAD_LETTERS.items() if name != "cursor"}
MAY_BE_EMPTY = frozenset({"q", "tag"})
CHANGES: Mapping[str, Read] = {"limit": whole_number(1, 200), "cursor": number}
COMING: Mapping[str, Read] = {
    "owner": text_of(128),
    "tenant": text_of(128),
    "limit": whole_number(1, 200),
    "cursor": place,
}
UPCOMING: Mapping[str, Read] = {"count": whole_number(1, 100)}
CALENDARS: Mapping[str, Read] = {"tenant": text_of(128), **PAGE}
WEBHOOKS: Mapping[str, Read] = CALENDARS
TENANT: Mapping[str, Read] = {"tenant": text_of(128)}
CALENDAR: Mapping[str, Read] = TENANT
AUDIT: Mapping[str, Read] = {
    "since": since,
    "until": instant,
    "schedule": text_of(200),
    "late": seconds,
    "tenant": text_of(128),
    **PAGE,
}
EVENTS: Mapping[str, Read] = {
    "type": words(*NAMES),
    "scheduleId": text_of(200),
    "jobType": text_of(100),
    "owner": text_of(128),
    "tenant": text_of(128),
}
DELETE: Mapping[str, Read] = {"cancelRunning": truth, "purge": truth}


def read_query(query: Mapping[str, str], known: Mapping[str, Read]) -> dict[str, Any]:
    """The values of the parameters given; raises with everything that is wrong with them."""
    findings = Findings()
    values: dict[str, Any] = {}
    for name, text in query.items():
        reader = known.get(name)
        if reader is not None and not text and name in MAY_BE_EMPTY:
            continue  # a form that was left empty asks for nothing
        if reader is None:
            expected = ", ".join(known) or "none"
            findings.add(f"query parameter {shortened(name)} is not known here; expected {expected}", parameter=name)
            continue
        try:
            values[name] = reader(text)
        except ValidationFailed as error:
            findings.add(error.message.replace("it is", f"query parameter {name} is", 1), parameter=name)
    findings.check()
    return values
