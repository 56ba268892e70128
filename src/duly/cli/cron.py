"""``duly cron``: ask a cron expression when it fires, and what it means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from .failing import Refused
from .grouping import Group
from .options import output_options
from .printing import Sheet, Table, printer
from .times import local, relative, rfc3339, system_now

if TYPE_CHECKING:
    from duly.core.timing import Cron

MOST = 1000
YEAR_MS = 366 * 86_400_000


@click.group(cls=Group)
def command() -> None:
    """Ask a cron expression when it fires, and what it means.

    An expression has 5 fields (minute hour day month weekday), or 6 with seconds first. Quote it.
    """


def expression_options(function: Callable[..., None]) -> Callable[..., None]:
    for decorate in reversed((
        click.argument("expression", nargs=-1, required=True),
        click.option("--timezone", "-z", default="UTC", metavar="ZONE", help="UTC unless said; an IANA name."),
        click.option("--dst-gap", type=click.Choice(["fire_after", "skip"]), help="For a time that does not exist."),
        click.option("--dst-fold", type=click.Choice(["first", "second", "both"]), help="For a time that comes twice."),
        output_options,
    )):  # fmt: skip
        function = decorate(function)
    return function


count_option = click.option(
    "--count", "-n", type=click.IntRange(1, MOST), default=5, metavar="N", help="How many windows; 5 unless said."
)


@command.command()
@expression_options
@count_option
@click.option("--after", metavar="TIME", help="Windows after this instant; now unless said.")
def next(expression: tuple[str, ...], after: str | None, count: int, **options: Any) -> None:
    """The next windows of a cron EXPRESSION."""
    cron, now = _cron(expression, **options), system_now()
    start = now if after is None else _instant("--after", after, cron.timezone)
    _show(cron, list(_first(cron.next_after_ms, start, count)), now, f"never fires after {after or 'now'}")


@command.command()
@expression_options
@count_option
@click.option("--before", metavar="TIME", help="Windows at or before this instant; now unless said.")
def prev(expression: tuple[str, ...], before: str | None, count: int, **options: Any) -> None:
    """The newest past windows of a cron EXPRESSION, newest first."""
    cron, now = _cron(expression, **options), system_now()
    end = now if before is None else _instant("--before", before, cron.timezone)
    windows = _first(lambda at: cron.latest_at_ms(at - 1), end + 1, count)
    _show(cron, list(windows), now, f"never fired before {before or 'now'}")


@command.command()
@expression_options
def explain(expression: tuple[str, ...], **options: Any) -> None:
    """What a cron EXPRESSION means, in words, and where clock changes touch it within a year."""
    from duly.core.timing import explain as in_english

    cron, now = _cron(expression, **options), system_now()
    first, touched = list(_first(cron.next_after_ms, now, 3)), list(_touched(cron, now))
    upcoming = [_window(cron, at) for at in first]
    changes = [_window(cron, at) for at in touched]
    words = f"{in_english(cron)}."
    value = {
        "cronExpression": cron.expr,
        "timezone": cron.timezone,
        "explanation": words,
        "upcoming": upcoming,
        "clockChanges": changes,
    }

    def view() -> Sheet:
        rows = [("cron", cron.expr), ("means", words), ("timezone", cron.timezone)]
        rows += [("next", f"{local(at, cron.timezone)} ({relative(at, now)})") for at in first]
        if not first:
            rows.append(("next", "never: it does not fire again after now"))
        rows += [("clocks", f"{local(at, cron.timezone)}: {change['note']}")
                 for at, change in zip(touched, changes, strict=True)]  # fmt: skip
        return Sheet(rows)

    printer().show(value, view, names=[words])


def _cron(expression: tuple[str, ...], timezone: str, dst_gap: Any, dst_fold: Any) -> Cron:
    from duly.core.timing import Cron

    if len(expression) > 1:
        raise Refused(
            f"the cron expression came as {len(expression)} arguments; expected one",
            "quote it, or the shell puts file names in place of the stars: duly cron next '0 9 * * *'",
        )
    return Cron(expression[0], timezone, dst_gap=dst_gap or "fire_after", dst_fold=dst_fold or "first")


def _first(step: Callable[[int], int | None], start: int, count: int) -> Iterator[int]:
    at: int | None = start
    for _ in range(count):
        at = step(at)  # type: ignore[arg-type]  # it is not None here: the loop would have ended
        if at is None:
            return
        yield at


def _touched(cron: Cron, now: int) -> Iterator[int]:
    """The windows of the coming year that a change of the clocks put where they are, at most two for each change."""
    from duly.core.timing import dst_note

    at, end = now // 1000, (now + YEAR_MS) // 1000
    while not cron.zone.is_utc and at < end:
        _, change, offset, _, after = cron.zone.stretch_at(at)
        reach = abs(after - offset)  # a fold comes twice within this, before the change and after it
        near = cron.between_ms((change - reach) * 1000 - 1, (change + reach) * 1000)
        noted = (window for window in near if window > now and dst_note(cron, window))
        yield from (window for window, _ in zip(noted, range(2), strict=False))
        at = max(change, at + 1)


def _window(cron: Cron, at: int) -> dict[str, Any]:
    """One window as the API's preview answers it."""
    from duly.core.timing import dst_note

    return {
        "windowAt": rfc3339(at),
        "fireAt": rfc3339(at),
        "localTime": rfc3339(at, cron.timezone),
        "note": dst_note(cron, at),
    }


def _show(cron: Cron, windows: list[int], now: int, none: str) -> None:
    items = [_window(cron, at) for at in windows]

    def view() -> Table:
        noted = any(item["note"] for item in items)
        head = ["LOCAL TIME", "UTC", "FROM NOW", *(["NOTE"] if noted else [])]
        rows = [
            [local(at, cron.timezone), item["windowAt"], relative(at, now), *([item["note"] or ""] if noted else [])]
            for at, item in zip(windows, items, strict=True)
        ]
        return Table(head, rows, empty=f"'{cron.expr}' {none}")

    printer().show({"items": items}, view, names=[item["windowAt"] for item in items])


def _instant(flag: str, text: str, zone: str) -> int:
    """An instant with an offset, or a local time of the zone."""
    from duly.core.errors import Invalid
    from duly.core.instants import to_ms
    from duly.core.timing import Once
    from duly.core.timing.epoch import parse_datetime

    try:
        given = parse_datetime(text)
        return to_ms(given) if given.tzinfo else to_ms(Once.local(given, zone).at)
    except Invalid as error:
        raise Refused(f"{flag}: {error.message}") from error
